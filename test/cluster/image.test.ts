import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { unpacked } from '../../tools/debian/packages.ts';
import { run } from '../../tools/lib/run.ts';

const root = join(import.meta.dirname, '../..');

describe("the operator's image", () => {
  const place = mkdtempSync(join(tmpdir(), 'elsewhere-'));
  afterAll(() => rmSync(place, { recursive: true }));
  // A cluster that is never up, so that the image is built but not pushed.
  const image = async (directory: string): Promise<string> =>
    (await run(process.execPath, [join(directory, 'tools/images/main.ts'), '--cluster', 'nowhere'])).trim();

  it('has the same digest in every build directory', async () => {
    for (const path of ['src', 'lab', 'tools', 'package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE'])
      cpSync(join(root, path), join(place, path), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'));
    mkdirSync(join(place, 'dist'));
    const here = await image(root);
    expect(here).toMatch(/^etcd-operator:\d+\.\d+\.\d+ sha256:[0-9a-f]{64}$/);
    expect(await image(place)).toBe(here);
  });

  it('is saved as OCI and Docker archive with user, entrypoint and fixed creation time', async () => {
    const [loader, ...skopeo] = unpacked('usr/bin/skopeo');
    for (const form of ['oci-archive', 'docker-archive']) {
      const file = join(root, `dist/etcd-operator.${form.replace('-archive', '')}.tar`);
      expect(statSync(file).size).toBeGreaterThan(1_000_000);
      const config = JSON.parse(await run(loader, [...skopeo, 'inspect', '--config', `${form}:${file}`]));
      expect(config).toMatchObject({
        created: '1970-01-01T00:00:00Z',
        config: { User: '65532:65532', Entrypoint: ['/usr/local/bin/etcd-operator'] },
      });
      expect(config.config.Cmd).toBeUndefined();
    }
  });

  it('has a file tree without shell and setuid files, in which the operator runs', async () => {
    const tree = join(place, 'tree');
    await run(process.execPath, [join(root, 'tools/images/main.ts'), '--tree', tree]);
    for (const shell of ['bin/sh', 'bin/bash', 'usr/bin/sh']) expect(existsSync(join(tree, shell))).toBe(false);
    const command = ['--userspec=65532:65532', tree, '/usr/local/bin/etcd-operator', '--version'];
    expect(await run('chroot', command)).toMatch(/^etcd-operator \d/);
    expect(execFileSync('find', [tree, '-perm', '-4000'], { encoding: 'utf8' })).toBe('');
  });
});
