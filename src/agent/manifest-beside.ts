import { deflateRawSync } from 'node:zlib';
import { longestManifest, readManifest, type SnapshotManifest } from '../objectstore/manifest.ts';
import { manifestKey } from '../objectstore/names.ts';
import type { ObjectStore } from '../objectstore/store.ts';
import { Failure } from '../std/failure.ts';
import { AgentFailure } from './result.ts';

interface ManifestReading {
  readonly signal: AbortSignal;
  readonly warnings: string[];
}

/**
 * The manifest beside a snapshot; undefined if there is none. An invalid or unreadable manifest is only a warning,
 * because the snapshot may be good. Without the right to list, stores answer "denied" for a missing manifest.
 */
export async function manifestBeside(
  store: ObjectStore,
  key: string,
  reading: ManifestReading,
): Promise<SnapshotManifest | undefined> {
  try {
    const { body, size } = await store.get(manifestKey(key), reading.signal);
    if (size > longestManifest) throw new Failure('rejected', `a manifest of ${size} bytes is too large`);
    return readManifest(Buffer.concat(await Array.fromAsync(body)).toString());
  } catch (thrown) {
    const { kind, message } = Failure.from(thrown);
    if (kind === 'not-found') return undefined;
    if (kind !== 'rejected' && kind !== 'forbidden') throw thrown;
    reading.warnings.push(`the manifest of "${key}" is ignored: ${message}`);
    return undefined;
  }
}

/** A warning, not a failure: the snapshot itself may contain its storage version. */
export const noManifest = 'the etcd version of this snapshot is unknown: it has no manifest';

export const unknownVersion =
  'the etcd version of this snapshot is unknown: it has neither a manifest nor a storage version';

export const wrongManifest = ({ snapshot: { key } }: SnapshotManifest): string =>
  `the manifest of "${key}" belongs to another snapshot`;

/** Facts of the manifest for the result of the agent. */
export const manifestFacts = (manifest: SnapshotManifest | undefined): object =>
  manifest === undefined ? {} : { takenAt: manifest.takenAt, ...manifest.etcd };

/** Space for the cluster spec in a termination message. */
const maxClusterLength = 3072;

/** The cluster spec of the manifest, compressed to fit into the termination message. */
export function savedCluster(manifest: SnapshotManifest | undefined): object {
  if (manifest?.cluster === undefined) return {};
  const { apiVersion, spec } = manifest.cluster;
  const packed = deflateRawSync(JSON.stringify({ apiVersion, spec })).toString('base64');
  if (packed.length <= maxClusterLength) return { cluster: packed };
  const message = `the cluster spec in the manifest of "${manifest.snapshot.key}" is too long for a termination message: copy it into an EtcdCluster, or into an EtcdRestore with a cluster template, and restore into that`;
  throw new AgentFailure('too-large', message);
}
