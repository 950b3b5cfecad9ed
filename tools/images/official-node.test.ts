import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareWithOfficial } from './official-node.ts';

const version = '24.0.1';
const name = `node-v${version}-linux-x64`;
const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
const official = { version, machine: 'x64', digest: sha256('the official program') } as const;

describe('a release of Node', () => {
  const place = mkdtempSync(join(tmpdir(), 'release-'));
  const served = new Map<string, string | Buffer>();
  const server = createServer(({ url = '' }, answer) => {
    const content = served.get(url);
    answer.writeHead(content === undefined ? 404 : 200).end(content);
  });
  let releases = '';

  beforeAll(async () => {
    mkdirSync(join(place, name, 'bin'), { recursive: true });
    writeFileSync(join(place, name, 'bin/node'), 'the official program');
    execFileSync('tar', ['-czf', join(place, 'archive'), '-C', place, name]);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    releases = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
    rmSync(place, { recursive: true });
  });

  const publish = (checksum: string): void => {
    served.set(`/v${version}/${name}.tar.gz`, readFileSync(join(place, 'archive')));
    served.set(`/v${version}/SHASUMS256.txt`, `${'0'.repeat(64)}  ${name}.tar.xz\n${checksum}  ${name}.tar.gz\n`);
  };
  const checksum = (): string => sha256(readFileSync(join(place, 'archive')));

  it('matches if its archive has the official checksum and its node has our digest', async () => {
    publish(checksum());
    await expect(compareWithOfficial(official, releases)).resolves.toBeUndefined();
  });

  it('does not match if its node has another digest', async () => {
    publish(checksum());
    const ours = { ...official, digest: sha256('another program') };
    await expect(compareWithOfficial(ours, releases)).rejects.toThrow('does not hold the official program');
  });

  it('is rejected if its archive does not have the listed checksum', async () => {
    publish('1'.repeat(64));
    await expect(compareWithOfficial(official, releases)).rejects.toThrow('SHASUMS256.txt lists 1111');
  });

  it('is rejected if the list does not contain it or cannot be read', async () => {
    publish('');
    await expect(compareWithOfficial(official, releases)).rejects.toThrow(`no checksum of ${name}.tar.gz`);
    served.clear();
    await expect(compareWithOfficial(official, releases)).rejects.toThrow('HTTP status 404');
  });
});
