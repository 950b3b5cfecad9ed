import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { recipeOf } from './etcd-build.ts';
import { downloadEtcd } from './etcd-download.ts';
import { builtVersion, type EtcdSources, findEtcd, findUntagged, type MakePrograms } from './etcd-programs.ts';

const modules = join(import.meta.dirname, '../../../tools/programs');
const place = mkdtempSync(join(tmpdir(), 'etcd-programs-'));
afterAll(() => rmSync(place, { recursive: true }));

function put(...path: readonly string[]): void {
  const directory = join(place, ...path);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'etcd'), '');
  chmodSync(join(directory, 'etcd'), 0o755);
}
put('cache/programs/etcd-3.4.31-032f4fa56eea');
put('cache/programs/etcd-3.10.1-0123456789ab');
put('extra/etcd-3.6.16');
const sources: EtcdSources = {
  cache: join(place, 'cache'),
  extra: join(place, 'extra'),
  print: () => undefined,
  make: [],
};

describe('etcd', () => {
  it('is found in the cache and in the extra directory', async () => {
    expect(await findEtcd('3.4.31', sources)).toMatchObject({ version: '3.4.31', from: 'the cache' });
    expect(await findEtcd('3.6.16', sources)).toMatchObject({ from: join(place, 'extra') });
  });

  it('of an untagged image is the newest 3.3 or older, or the newest available', async () => {
    expect(await findUntagged(sources)).toMatchObject({ version: '3.10.1' });
    put('old/programs/etcd-3.2.13');
    put('old/programs/etcd-3.3.12');
    put('old/programs/etcd-3.5.21');
    expect(await findUntagged({ ...sources, cache: join(place, 'old') })).toMatchObject({ version: '3.3.12' });
  });

  it('is the newest available version for "any"', async () => {
    expect(await findEtcd('any', sources)).toMatchObject({ version: '3.10.1' });
  });

  it('is built if it is not available; a failed build is reported with its reason', async () => {
    const made = { version: '3.3.12', directory: '/made', from: 'a test' };
    expect(await findEtcd('3.3.12', { ...sources, make: [async () => undefined, async () => made] })).toEqual(made);
    const fails = (): Promise<undefined> => Promise.reject(new Error('no way.'));
    await expect(findEtcd('3.3.12', { ...sources, make: [fails] })).rejects.toThrow(
      /etcd 3\.3\.12 is not on this machine.*3\.4\.31.*no way\./,
    );
  });

  it('of Debian is known by the version it reports, even if another was expected', async () => {
    const cache = join(place, 'debian');
    const unpack: EtcdSources['unpack'] = async (_, { directory }) => {
      mkdirSync(join(directory, 'usr/bin'), { recursive: true });
      writeFileSync(join(directory, 'usr/bin/etcd'), '#!/bin/sh\necho "etcd Version: 3.5.99"\n', { mode: 0o755 });
      return directory;
    };
    const none = { cache, print: () => undefined, make: [], unpack };
    await expect(findEtcd('3.5.30', none)).rejects.toThrow(/etcd 3\.5\.30 is not on this machine/);
    rmSync(cache, { recursive: true });
    expect(await findEtcd('any', none)).toMatchObject({ version: '3.5.99', from: "Debian's packages" });
    expect(await findEtcd('3.5.99', none)).toMatchObject({ from: "Debian's packages in the cache" });
  });

  it('is the newest version we can build for "any", if the Debian package cannot be fetched', async () => {
    const unpack = (): Promise<never> => Promise.reject(new Error('no mirror of Debian.'));
    const build: MakePrograms = async (version) =>
      existsSync(join(modules, `etcd-${version}`)) ? { version, directory: '/built', from: 'its sources' } : undefined;
    const bare = { cache: join(place, 'bare'), print: () => undefined, make: [build], unpack };
    expect(await findEtcd('any', bare)).toMatchObject({ version: builtVersion, from: 'its sources' });
  });

  it('is downloaded from a release only if it matches the checksum', async () => {
    const name = `etcd-v3.9.9-linux-${process.arch === 'arm64' ? 'arm64' : 'amd64'}`;
    put('release', name);
    const archive = join(place, 'release.tar.gz');
    execFileSync('tar', ['-czf', archive, '-C', join(place, 'release'), name]);
    const sums = ['', 'x'.repeat(64), createHash('sha256').update(readFileSync(archive)).digest('hex')];
    const server = createServer((request, response) => {
      if (request.url === `/v3.9.9/${name}.tar.gz`) response.end(readFileSync(archive));
      else if (request.url === '/v3.9.9/SHA256SUMS')
        response.end(`${'0'.repeat(64)}  other\n${sums.shift()}  ${name}.tar.gz\n`);
      else response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const releases = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const make = [downloadEtcd({ cache: sources.cache, print: () => undefined, releases })];
    for (const _ of ['no checksum', 'another'])
      await expect(findEtcd('3.9.9', { ...sources, make })).rejects.toThrow('does not match SHA256SUMS of its release');
    expect(existsSync(join(sources.cache, 'programs/etcd-3.9.9'))).toBe(false);
    expect(await findEtcd('3.9.9', { ...sources, make })).toMatchObject({ from: "the project's releases" });
    expect(await findEtcd('3.9.9', sources)).toMatchObject({ from: 'the cache' });
    await expect(findEtcd('3.9.8', { ...sources, make })).rejects.toThrow(/HTTP status 404/);
    server.close();
  });

  it('has other package paths in older versions', () => {
    expect(recipeOf('3.1.10')).toMatchObject({ packages: { etcd: 'github.com/coreos/etcd' }, toolchain: 'go1.21.13' });
    expect(recipeOf('3.4.31').packages['etcdctl']).toBe('go.etcd.io/etcd/etcdctl');
    expect(recipeOf('3.6.16').packages['etcd']).toBe('go.etcd.io/etcd/server/v3');
  });
});
