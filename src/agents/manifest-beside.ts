import { deflateRawSync } from 'node:zlib';
import { Failure } from '../std/failure.ts';
import { longestManifest, type Manifest, readManifest } from '../storage/manifest.ts';
import { manifestKey } from '../storage/names.ts';
import type { ObjectStore } from '../storage/store.ts';
import { AgentFailure } from './result.ts';

interface ManifestReading {
  readonly signal: AbortSignal;
  readonly warnings: string[];
}

/**
 * The manifest beside a snapshot; foreign snapshots have none, and a bad one is no reason to lose a good snapshot. Nor is one
 * that we may not read: whoever may not list objects is told so of those that are missing.
 */
export async function manifestBeside(
  store: ObjectStore,
  key: string,
  reading: ManifestReading,
): Promise<Manifest | undefined> {
  try {
    const { body, size } = await store.get(manifestKey(key), reading.signal);
    if (size > longestManifest) throw new Failure('rejected', `${size} bytes are too many for a manifest`);
    return readManifest(Buffer.concat(await Array.fromAsync(body)).toString());
  } catch (thrown) {
    const { kind, message } = Failure.from(thrown);
    if (kind === 'not-found') return undefined;
    if (kind !== 'rejected' && kind !== 'forbidden') throw thrown;
    reading.warnings.push(`the manifest beside "${key}" is left aside: ${message}`);
    return undefined;
  }
}

/** The snapshot may still say so itself, to whoever has all of it. */
export const noManifest = 'no manifest tells which etcd made this snapshot';

export const unsaidVersion = 'nothing tells which etcd made this snapshot';

export const ofAnother = ({ snapshot: { key } }: Manifest): string =>
  `the manifest beside "${key}" is of another snapshot`;

/** What a manifest says of its snapshot, for whoever asked. */
export const told = (manifest: Manifest | undefined): object =>
  manifest === undefined ? {} : { takenAt: manifest.takenAt, ...manifest.etcd };

/** Most of what is left of a termination message beside what is always in it. */
const mostOfCluster = 3072;

/** Packed, because specs are long and results are short. */
export function savedCluster(manifest: Manifest | undefined): object {
  if (manifest?.cluster === undefined) return {};
  const { apiVersion, spec } = manifest.cluster;
  const packed = deflateRawSync(JSON.stringify({ apiVersion, spec })).toString('base64');
  if (packed.length <= mostOfCluster) return { cluster: packed };
  const says = `what the manifest beside "${manifest.snapshot.key}" says of the cluster is too long to be handed on: copy it from there into an EtcdCluster, or into an EtcdRestore that has a place for it, and restore into that`;
  throw new AgentFailure('too-large', says);
}
