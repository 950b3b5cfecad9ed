import { z } from 'zod';
import { metadataWith } from '../metadata.ts';
import type { Parsed } from '../parsed.ts';
import { parsedBy } from '../reading.ts';
import { etcdClusterSpec } from './cluster-spec.ts';
import { clusterNames, peerNames } from './names.ts';
import { etcdPeerSpec } from './peer-spec.ts';
import { foundClusterStatus, foundPeerStatus } from './status.ts';

const etcdCluster = z.object({
  metadata: metadataWith(clusterNames),
  spec: etcdClusterSpec,
  status: foundClusterStatus.default({}),
});

const etcdPeer = z.object({
  metadata: metadataWith(peerNames),
  spec: etcdPeerSpec,
  status: foundPeerStatus.default({}),
});

/** Objects that make sense, with what was left out filled in. */
export type EtcdClusterResource = z.output<typeof etcdCluster>;
export type EtcdPeerResource = z.output<typeof etcdPeer>;

/**
 * These read whatever the API server has stored under the name of their kind: with our schema, with the original's, or
 * with none. They never throw, and give every problem with its path. Fields they do not know are left out, and null means
 * absent.
 */
export const readEtcdCluster = (raw: unknown): Parsed<EtcdClusterResource> => parsedBy(etcdCluster, raw);
export const readEtcdPeer = (raw: unknown): Parsed<EtcdPeerResource> => parsedBy(etcdPeer, raw);
