import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { chmod, mkdir, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { layerOf, writeImage } from './oci-image.ts';

describe('an image', () => {
  const place = mkdtempSync(join(tmpdir(), 'oci-'));
  afterAll(() => rmSync(place, { recursive: true }));

  const tree = (names: readonly string[], content: string, year: number) => async (root: string) => {
    await mkdir(join(root, 'bin'));
    for (const name of names) {
      await writeFile(join(root, 'bin', name), `${name} ${content}`);
      await chmod(join(root, 'bin', name), year === 2000 ? 0o755 : 0o750);
      await utimes(join(root, 'bin', name), year, year);
    }
  };
  const imageOf = async (directory: string, fill: (root: string) => Promise<void>): Promise<string> =>
    writeImage(join(place, directory), [await layerOf(fill, 6)], { Cmd: ['/bin/a'] });

  it('has a digest that is independent of time, order and owner of its files', async () => {
    const first = await imageOf('first', tree(['a', 'b'], 'x', 2000));
    expect(await imageOf('second', tree(['b', 'a'], 'x', 2020))).toBe(first);
    expect(await imageOf('third', tree(['a', 'b'], 'y', 2000))).not.toBe(first);
  });

  it('stores every blob under its digest, and an index that refers to all of them', () => {
    const layout = join(place, 'first');
    const blobs = readdirSync(join(layout, 'blobs/sha256'));
    for (const name of blobs) {
      const content = readFileSync(join(layout, 'blobs/sha256', name));
      expect(createHash('sha256').update(content).digest('hex')).toBe(name);
    }
    const read = (digest: string) => JSON.parse(readFileSync(join(layout, 'blobs', digest.replace(':', '/')), 'utf8'));
    const { manifests } = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8'));
    const manifest = read(manifests[0].digest);
    const reached = [
      manifests[0].digest,
      manifest.config.digest,
      ...manifest.layers.map((layer: { digest: string }) => layer.digest),
    ];
    expect(reached.map((each: string) => each.slice('sha256:'.length)).toSorted()).toEqual(blobs.toSorted());
    expect(read(manifest.config.digest).config).toEqual({ Cmd: ['/bin/a'] });
  });
});
