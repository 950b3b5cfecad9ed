import { z } from 'zod';
import { metadataWith } from '../common/schema/metadata.ts';
import type { Parsed } from '../common/schema/parsed.ts';
import { parseWith } from '../common/schema/reading.ts';
import { etcdClusterSpec } from './cluster-spec.ts';
import { nameRulesOfClusters, nameRulesOfPeers } from './names.ts';
import { etcdPeerSpec } from './peer-spec.ts';
import { storedClusterStatus, storedPeerStatus } from './status.ts';

const etcdCluster = z.object({
  metadata: metadataWith(nameRulesOfClusters),
  spec: etcdClusterSpec,
  status: storedClusterStatus.default({}),
});

const etcdPeer = z.object({
  metadata: metadataWith(nameRulesOfPeers),
  spec: etcdPeerSpec,
  status: storedPeerStatus.default({}),
});

/** Valid objects, with defaults. */
export type EtcdClusterResource = z.output<typeof etcdCluster>;
export type EtcdPeerResource = z.output<typeof etcdPeer>;

/**
 * Read objects that may have been stored with our schema, with the original's, or without any. They never throw, and
 * return all problems with their paths. Unknown fields are dropped, and null means absent.
 */
export const readEtcdCluster = (raw: unknown): Parsed<EtcdClusterResource> => parseWith(etcdCluster, raw);
export const readEtcdPeer = (raw: unknown): Parsed<EtcdPeerResource> => parseWith(etcdPeer, raw);
