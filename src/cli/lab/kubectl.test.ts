import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findKubectl } from './kubectl.ts';
import { built, downloadedFrom, fromDebian, type KubectlWay, kubectlWays } from './kubectl-ways.ts';

const place = mkdtempSync(join(tmpdir(), 'kubectl-'));
const path = process.env['PATH'];
/** A kubectl that says of which version it is. */
const script = (version: string): string => `#!/bin/sh\necho 'Client Version: v${version}'\n`;

function put(directory: string, version: string): string {
  mkdirSync(join(place, directory), { recursive: true });
  writeFileSync(join(place, directory, 'kubectl'), script(version));
  chmodSync(join(place, directory, 'kubectl'), 0o755);
  return join(place, directory);
}

beforeAll(() => {
  process.env['PATH'] = `${put('old', '1.30.9')}:/bin`; // found before any that this machine has
});
afterAll(() => {
  process.env['PATH'] = path;
  rmSync(place, { recursive: true });
});

const sources = (cache: string) => ({ cache: join(place, cache), say: () => undefined });
const none: KubectlWay = async () => undefined;
const fails: KubectlWay = async () => Promise.reject(new Error('no mirror.'));

describe('kubectl', () => {
  it('is taken from the cache where the one on PATH is too old', async () => {
    put('cache/programs/kubernetes-1.36.4', '1.36.4');
    const directory = join(place, 'cache/programs/kubernetes-1.36.4');
    expect(await findKubectl(sources('cache'), [fails])).toEqual({ version: '1.36.4', directory, isOnPath: false });
  });

  it('is had from Debian, else built, else downloaded', () => {
    expect(kubectlWays.slice(0, 2)).toEqual([fromDebian, built]);
    expect(kubectlWays).toHaveLength(3);
  });

  it('is had in the first way that leads to one that is new enough', async () => {
    const old = put('from-old', '1.20.0');
    const good = put('from-good', '1.36.0');
    const ways = [none, fails, async () => old, async () => good, async () => put('never', '1.37.0')];
    expect(await findKubectl(sources('empty'), ways)).toEqual({ version: '1.36.0', directory: good, isOnPath: false });
    expect(existsSync(join(place, 'never'))).toBe(false);
  });

  it('is missed with the reasons', async () => {
    await expect(findKubectl(sources('empty'), [none, fails])).rejects.toThrow(/1\.31 or newer.*no mirror\./);
  });
});

describe('a kubectl of the releases', () => {
  it('is taken if it is what its checksum says, and kept', async () => {
    let sum = createHash('sha256').update(script('1.36.4')).digest('hex');
    const server = createServer(({ url = '' }, response) => {
      if (/^\/v\d+\.\d+\.\d+\/bin\/linux\/(amd64|arm64)\/kubectl$/.test(url)) response.end(script('1.36.4'));
      else if (url.endsWith('/kubectl.sha256')) response.end(sum);
      else response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const way = downloadedFrom(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const { version, directory } = await findKubectl(sources('fetched'), [way]);
    expect(version).toBe('1.36.4');
    expect(await findKubectl(sources('fetched'), [])).toMatchObject({ directory });
    sum = sum.replaceAll(/./g, '0');
    await expect(findKubectl(sources('wrong'), [way])).rejects.toThrow(/not what its checksum says/);
    expect(readdirSync(join(place, 'wrong/programs'))).toEqual([]);
    server.close();
  });
});
