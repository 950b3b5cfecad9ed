import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { UserError } from '../lib/main.ts';

/** The architectures of the image, in Node's names. */
export type Machine = 'x64' | 'arm64';

export const machine: Machine = process.arch === 'arm64' ? 'arm64' : 'x64';

export const nodePackage = join(import.meta.dirname, `../../node_modules/node-linux-${machine}`);

/** The `node` of the image. */
export const nodeProgram = join(nodePackage, 'bin/node');

export const nodeVersion = '24.21.0';

/**
 * SHA-256 of `bin/node` in the Node release of that version. The program comes from an npm package that repacks the
 * release. `make verify-node` compares these digests with the official archives and checksums. Change them only with
 * the version.
 */
export const nodeDigests: Readonly<Record<Machine, string>> = {
  x64: '7fde7b8afa198da66257f42ee2001d874c7355631e6d1579a5fb5ef1f246df4c',
  arm64: '0f8949d1028f6d61506b2d5bc57e7e6fe893d7b1997509b7847294fc9c616584',
};

/** Throws if `node` does not have the digest in the source. */
export async function assertPinnedNode(program = nodeProgram, wanted = nodeDigests[machine]): Promise<void> {
  const found = await sha256Of(program);
  if (found === wanted) return;
  throw new UserError(
    `${program} is not the node ${nodeVersion} for ${machine} of the image: its SHA-256 is ${found}, expected ` +
      'tools/images/node-program.ts has ' +
      `${wanted}. Install the packages again (npm ci); with another version, change version and digests after make verify-node.`,
  );
}

export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
