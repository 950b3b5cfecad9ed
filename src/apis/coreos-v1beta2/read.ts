import { z } from 'zod';
import { metadataWith } from '../common/schema/metadata.ts';
import type { Parsed } from '../common/schema/parsed.ts';
import { parseWith } from '../common/schema/reading.ts';
import { nameRules } from './names.ts';
import { etcdClusterSpec } from './spec.ts';
import { storedStatus } from './status.ts';

const etcdCluster = z.object({
  metadata: metadataWith(nameRules),
  spec: etcdClusterSpec,
  status: storedStatus.default({}),
});

/** A valid EtcdCluster, with defaults. */
export type EtcdClusterResource = z.output<typeof etcdCluster>;

/**
 * Reads an EtcdCluster that may have been stored with our schema, with an older one, or without any. Never throws, and
 * returns all problems with their paths. Unknown fields are dropped, and null means absent.
 */
export function readEtcdCluster(raw: unknown): Parsed<EtcdClusterResource> {
  return parseWith(etcdCluster, raw);
}
