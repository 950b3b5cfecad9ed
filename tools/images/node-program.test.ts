import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { assertPinnedNode, nodeDigests, nodeVersion } from './node-program.ts';

const read = (file: string) => JSON.parse(readFileSync(join(import.meta.dirname, '../..', file), 'utf8'));

describe("the image's node", () => {
  const place = mkdtempSync(join(tmpdir(), 'node-'));
  afterAll(() => rmSync(place, { recursive: true }));

  it('has the digest of the source', async () => {
    await expect(assertPinnedNode()).resolves.toBeUndefined();
  });

  it('has the version of the digests in the source, for every architecture', () => {
    const packages = Object.keys(nodeDigests).map((machine) => `node-linux-${machine}`);
    const wanted = Object.fromEntries(packages.map((name) => [name, nodeVersion]));
    expect(read('package.json').optionalDependencies).toEqual(wanted);
    for (const name of packages)
      expect(read('package-lock.json').packages[`node_modules/${name}`].version).toBe(nodeVersion);
  });

  it('is refused if the program differs, with both digests in the message', async () => {
    const program = join(place, 'node');
    writeFileSync(program, 'not node');
    const refused = expect(assertPinnedNode(program)).rejects;
    await refused.toThrow(nodeDigests[process.arch === 'arm64' ? 'arm64' : 'x64']);
    await expect(assertPinnedNode(program)).rejects.toThrow(/its SHA-256 is [0-9a-f]{64}/);
  });
});
