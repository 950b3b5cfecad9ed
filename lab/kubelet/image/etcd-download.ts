import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../../../src/std/failure.ts';
import type { MakePrograms } from './etcd-programs.ts';

export interface DownloadOptions {
  readonly cache: string;
  readonly print: (line: string) => void;
  /** The base URL of the releases. Each release has an archive per platform. */
  readonly releases?: string;
}

const projectReleases = 'https://github.com/etcd-io/etcd/releases/download';
const system = `linux-${process.arch === 'arm64' ? 'arm64' : 'amd64'}`;
const connectMillis = 10_000;

/** Downloads etcd from the project's releases and verifies its checksum. */
export const downloadEtcd =
  ({ cache, print, releases = projectReleases }: DownloadOptions): MakePrograms =>
  async (version) => {
    const name = `etcd-v${version}-${system}`;
    const address = `${releases}/v${version}/${name}.tar.gz`;
    print(`etcd ${version}: downloading ${address}`);
    const directory = join(cache, 'programs', `etcd-${version}`);
    const unfinished = `${directory}.${process.pid}`;
    await mkdir(unfinished, { recursive: true });
    try {
      const archive = await buffer(await fetchStream(address));
      const sum = sumOf(`${name}.tar.gz`, await text(await fetchStream(`${releases}/v${version}/SHA256SUMS`)));
      if (createHash('sha256').update(archive).digest('hex') !== sum)
        throw new Failure('rejected', `${address} does not match SHA256SUMS of its release.`);
      await unpack(Readable.from([archive]), unfinished);
      await rm(directory, { recursive: true, force: true });
      await rename(join(unfinished, name), directory);
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
    return { version, directory, from: "the project's releases" };
  };

/** The checksum of a file in a SHA256SUMS list. */
const sumOf = (file: string, sums: string): string | undefined =>
  sums
    .split('\n')
    .map((line) => line.trim().split(/\s+\*?/))
    .find(([, name]) => name === file)?.[0];

/** The response body of a URL. */
export async function fetchStream(address: string): Promise<Readable> {
  const connecting = new AbortController();
  const timer = setTimeout(() => connecting.abort(), connectMillis);
  const answer = await fetch(address, { signal: connecting.signal }).catch((error: unknown) => {
    throw new Failure('unreachable', `cannot reach ${address}.`, { cause: error });
  });
  clearTimeout(timer);
  if (!answer.ok || answer.body === null) throw new Failure('not-found', `${address}: HTTP status ${answer.status}.`);
  return Readable.fromWeb(answer.body);
}

async function unpack(archive: Readable, directory: string): Promise<void> {
  const tar = spawn('tar', ['-xz', '-C', directory], { stdio: ['pipe', 'ignore', 'pipe'] });
  const ended = once(tar, 'exit');
  await pipeline(archive, tar.stdin);
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Failure('rejected', 'cannot unpack the archive.');
}
