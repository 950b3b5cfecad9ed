import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Complaint } from '../lib/main.ts';

/** Machines for which there is an image, as Node calls them. */
export type Machine = 'x64' | 'arm64';

export const machine: Machine = process.arch === 'arm64' ? 'arm64' : 'x64';

export const nodePackage = join(import.meta.dirname, `../../node_modules/node-linux-${machine}`);

/** The `node` of the image. */
export const nodeProgram = join(nodePackage, 'bin/node');

export const nodeVersion = '24.21.0';

/**
 * SHA-256 of `bin/node` in Node's release of that version. The program comes from an npm package that packs the release again;
 * `make verify-node` compares these with the archives and checksums of the project itself. To be changed with the version only.
 */
export const nodeDigests: Readonly<Record<Machine, string>> = {
  x64: '7fde7b8afa198da66257f42ee2001d874c7355631e6d1579a5fb5ef1f246df4c',
  arm64: '0f8949d1028f6d61506b2d5bc57e7e6fe893d7b1997509b7847294fc9c616584',
};

/** Refuses a `node` that is not the one whose digest is in the source. */
export async function assertPinnedNode(program = nodeProgram, wanted = nodeDigests[machine]): Promise<void> {
  const found = await sha256Of(program);
  if (found === wanted) return;
  throw new Complaint(
    `${program} is not the node ${nodeVersion} for ${machine} that the image is made of: its SHA-256 is ${found}, and ` +
      'tools/images/node-program.ts has ' +
      `${wanted}. Install the packages again (npm ci); with another version, change version and digests after make verify-node.`,
  );
}

export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
