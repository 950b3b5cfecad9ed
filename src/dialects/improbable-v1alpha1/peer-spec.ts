import { z } from 'zod';
import { changing, listBy, looksLike, ruled, text } from '../rule.ts';
import { etcdVersion } from './cluster-spec.ts';
import { clusterName } from './names.ts';
import { podTemplate } from './pod-template.ts';
import { storageOrDefault } from './storage.ts';

const unchanged = (what: string) => ({
  cel: 'self == oldSelf',
  says: `Unsupported changes: ${what} cannot be changed; scale or change the EtcdCluster instead`,
});

const dnsName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const initialMember = z.object({
  name: ruled(text(63), looksLike(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'must be the name of a peer')).describe(
    'Name of the peer.',
  ),
  host: ruled(text(253), looksLike(dnsName, 'must be a host name, without scheme and port')).describe(
    'Where the others find it: a host name, without scheme and port.',
  ),
});

const bootstrap = z.object({
  initialClusterState: z
    .enum(['New', 'Existing'])
    .describe('New: it founds the cluster with the others of the list. Existing: it joins them.'),
  static: z
    .object({
      initialCluster: listBy('name', initialMember, 32).min(1).describe('All members at that time, itself included.'),
    })
    .optional()
    .describe('How it finds the others: by a list.'),
});

const fields = z.object({
  clusterName: changing(clusterName, unchanged('clusterName')).describe(
    'Name of the EtcdCluster that it is a member of, in the same namespace.',
  ),
  version: etcdVersion.describe('Version of etcd, as in the EtcdCluster.'),
  bootstrap: bootstrap.optional().describe('How its etcd first started. It has no meaning after that.'),
  storage: storageOrDefault,
  podTemplate: podTemplate.optional().describe('What its pod has beside what etcd needs, as in the EtcdCluster.'),
});

/** On the whole, because the API server compares no field that was or is left out. */
export const etcdPeerSpec = changing(fields, {
  cel:
    'has(self.bootstrap) == has(oldSelf.bootstrap) && ' +
    '(!has(self.bootstrap) || self.bootstrap == oldSelf.bootstrap)',
  says: 'Unsupported changes: bootstrap cannot be changed: it says how etcd first started',
});

export type EtcdPeerSpec = z.output<typeof etcdPeerSpec>;
