import { z } from 'zod';
import { metadataWith } from '../metadata.ts';
import type { Parsed } from '../parsed.ts';
import { parsedBy } from '../reading.ts';
import { nameRules } from './names.ts';
import { etcdClusterSpec } from './spec.ts';
import { foundStatus } from './status.ts';

const etcdCluster = z.object({
  metadata: metadataWith(nameRules),
  spec: etcdClusterSpec,
  status: foundStatus.default({}),
});

/** An EtcdCluster that makes sense, with what was left out filled in. */
export type EtcdClusterResource = z.output<typeof etcdCluster>;

/**
 * Reads whatever the API server has stored under the name of an EtcdCluster: with our schema, with an older one, or with
 * none. Never throws; gives every problem with its path. Fields it does not know are left out, and null means absent.
 */
export function readEtcdCluster(raw: unknown): Parsed<EtcdClusterResource> {
  return parsedBy(etcdCluster, raw);
}
