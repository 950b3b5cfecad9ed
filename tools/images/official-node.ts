import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../lib/main.ts';
import { run } from '../lib/run.ts';
import { type Machine, sha256Of } from './node-program.ts';

/** The URL of the official Node releases, each with SHASUMS256.txt. */
export const officialReleases = 'https://nodejs.org/dist';

export interface Release {
  readonly version: string;
  readonly machine: Machine;
  /** The SHA-256 of `bin/node` in our source. */
  readonly digest: string;
}

/**
 * Compares our digest of `bin/node` with the official release. The archive must have the checksum in SHASUMS256.txt,
 * and its `bin/node` must have our digest.
 */
export async function compareWithOfficial({ version, machine, digest }: Release, releases: string): Promise<void> {
  const place = `${releases}/v${version}`;
  const name = `node-v${version}-linux-${machine}`;
  const listed = checksumIn((await fetched(`${place}/SHASUMS256.txt`)).toString('utf8'), `${name}.tar.gz`);
  const archive = await fetched(`${place}/${name}.tar.gz`);
  const found = createHash('sha256').update(archive).digest('hex');
  if (found !== listed)
    throw new UserError(`${place}/${name}.tar.gz has SHA-256 ${found}, but SHASUMS256.txt lists ${listed}.`);
  const official = await programIn(archive, `${name}/bin/node`);
  if (official !== digest)
    throw new UserError(
      `bin/node of the official ${name} has SHA-256 ${official}, but tools/images/node-program.ts has ${digest}: ` +
        'the npm package does not hold the official program. Do not publish the image.',
    );
}

export function checksumIn(list: string, file: string): string {
  const line = list.split('\n').find((each) => each.split(/\s+/)[1] === file);
  const [checksum = ''] = line?.split(/\s+/) ?? [];
  if (!/^[0-9a-f]{64}$/.test(checksum)) throw new UserError(`SHASUMS256.txt has no checksum of ${file}.`);
  return checksum;
}

async function fetched(address: string): Promise<Buffer> {
  const answer = await fetch(address).catch((error: unknown) => {
    throw new UserError(`${address} could not be reached: ${error instanceof Error ? error.message : String(error)}.`);
  });
  if (!answer.ok) throw new UserError(`${address}: HTTP status ${answer.status}.`);
  return Buffer.from(await answer.arrayBuffer());
}

async function programIn(archive: Buffer, path: string): Promise<string> {
  const place = await mkdtemp(join(tmpdir(), 'node-release-'));
  try {
    await writeFile(join(place, 'archive'), archive);
    await run('tar', ['-xzf', join(place, 'archive'), '-C', place, path]);
    return await sha256Of(join(place, path));
  } finally {
    await rm(place, { recursive: true });
  }
}
