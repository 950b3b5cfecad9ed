import { z } from 'zod';
import { listBy, looksLike, text, withRules, withTransitionRules } from '../common/schema/rule.ts';
import { etcdVersion } from './cluster-spec.ts';
import { clusterName } from './names.ts';
import { podTemplate } from './pod-template.ts';
import { storageOrDefault } from './storage.ts';

const immutable = (what: string) => ({
  cel: 'self == oldSelf',
  message: `Unsupported changes: ${what} cannot be changed; scale or change the EtcdCluster instead`,
});

const dnsName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const initialMember = z.object({
  name: withRules(text(63), looksLike(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'must be the name of a peer')).describe(
    'name is the name of the peer.',
  ),
  host: withRules(text(253), looksLike(dnsName, 'must be a host name, without scheme and port')).describe(
    'host is the host name of the peer, without scheme and port.',
  ),
});

const bootstrap = z.object({
  initialClusterState: z
    .enum(['New', 'Existing'])
    .describe(
      'initialClusterState is New (the member bootstraps the cluster with the listed members) or Existing (it joins them).',
    ),
  static: z
    .object({
      initialCluster: listBy('name', initialMember, 32)
        .min(1)
        .describe('initialCluster lists all members at that time, including this one.'),
    })
    .optional()
    .describe('static is a fixed list of members.'),
});

const fields = z.object({
  clusterName: withTransitionRules(clusterName, immutable('clusterName')).describe(
    'clusterName is the EtcdCluster of the member, in the same namespace.',
  ),
  version: etcdVersion.describe('version is the version of etcd, as in the EtcdCluster.'),
  bootstrap: bootstrap.optional().describe('bootstrap is how etcd first started. It has no effect afterwards.'),
  storage: storageOrDefault,
  podTemplate: podTemplate.optional().describe('podTemplate has the settings of the pod, as in the EtcdCluster.'),
});

/** The rule is on the whole spec, because the API server skips transition rules of fields that are added or removed. */
export const etcdPeerSpec = withTransitionRules(fields, {
  cel:
    'has(self.bootstrap) == has(oldSelf.bootstrap) && ' +
    '(!has(self.bootstrap) || self.bootstrap == oldSelf.bootstrap)',
  message: 'Unsupported changes: bootstrap cannot be changed: it records how etcd first started',
});

export type EtcdPeerSpec = z.output<typeof etcdPeerSpec>;
