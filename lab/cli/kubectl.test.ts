import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findKubectl } from './kubectl.ts';
import {
  buildKubectl,
  downloadKubectl,
  fromDebian,
  type KubectlProvider,
  kubectlProviders,
} from './kubectl-providers.ts';

const place = mkdtempSync(join(tmpdir(), 'kubectl-'));
const path = process.env['PATH'];
/** A script that prints the version of a kubectl. */
const script = (version: string): string => `#!/bin/sh\necho 'Client Version: v${version}'\n`;

function put(directory: string, version: string): string {
  mkdirSync(join(place, directory), { recursive: true });
  writeFileSync(join(place, directory, 'kubectl'), script(version));
  chmodSync(join(place, directory, 'kubectl'), 0o755);
  return join(place, directory);
}

beforeAll(() => {
  process.env['PATH'] = `${put('old', '1.30.9')}:/bin`; // found before the machine's own kubectl
});
afterAll(() => {
  process.env['PATH'] = path;
  rmSync(place, { recursive: true });
});

const sources = (cache: string) => ({ cache: join(place, cache), print: () => undefined });
const none: KubectlProvider = async () => undefined;
const fails: KubectlProvider = async () => Promise.reject(new Error('no mirror.'));

describe('kubectl', () => {
  it('is taken from the cache if the one on PATH is too old', async () => {
    put('cache/programs/kubernetes-1.36.4', '1.36.4');
    const directory = join(place, 'cache/programs/kubernetes-1.36.4');
    expect(await findKubectl(sources('cache'), [fails])).toEqual({ version: '1.36.4', directory, isOnPath: false });
  });

  it('is fetched from Debian, else built, else downloaded', () => {
    expect(kubectlProviders.slice(0, 2)).toEqual([fromDebian, buildKubectl]);
    expect(kubectlProviders).toHaveLength(3);
  });

  it('is the first that is new enough, in the order of the providers', async () => {
    const old = put('from-old', '1.20.0');
    const good = put('from-good', '1.36.0');
    const providers = [none, fails, async () => old, async () => good, async () => put('never', '1.37.0')];
    expect(await findKubectl(sources('empty'), providers)).toEqual({
      version: '1.36.0',
      directory: good,
      isOnPath: false,
    });
    expect(existsSync(join(place, 'never'))).toBe(false);
  });

  it('that cannot be provided is reported with all reasons', async () => {
    await expect(findKubectl(sources('empty'), [none, fails])).rejects.toThrow(/1\.31 or newer.*no mirror\./);
  });
});

describe('a kubectl of the releases', () => {
  it('is used and cached only if it matches its checksum', async () => {
    let sum = createHash('sha256').update(script('1.36.4')).digest('hex');
    const server = createServer(({ url = '' }, response) => {
      if (/^\/v\d+\.\d+\.\d+\/bin\/linux\/(amd64|arm64)\/kubectl$/.test(url)) response.end(script('1.36.4'));
      else if (url.endsWith('/kubectl.sha256')) response.end(sum);
      else response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const provider = downloadKubectl(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const { version, directory } = await findKubectl(sources('fetched'), [provider]);
    expect(version).toBe('1.36.4');
    expect(await findKubectl(sources('fetched'), [])).toMatchObject({ directory });
    sum = sum.replaceAll(/./g, '0');
    await expect(findKubectl(sources('wrong'), [provider])).rejects.toThrow(/does not match its checksum/);
    expect(readdirSync(join(place, 'wrong/programs'))).toEqual([]);
    server.close();
  });
});
