import { z } from 'zod';
import { listBy, looksLike, text, withRules } from '../common/schema/rule.ts';
import { heldBy } from '../common/status/held-by.ts';
import { alarms } from '../common/status/member-status.ts';
import { parseOnce } from '../common/status/parse-once.ts';
import { keptVolumes } from '../common/status/removed-volumes.ts';

const name = text(253);
const hexId = withRules(text(16), looksLike(/^[0-9a-f]+$/, 'must be a lower-case hexadecimal number'));

const condition = z.object({
  type: text(316).describe('type is Available, Progressing, Degraded, ClientsMoving or Secured.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('status is True, False or Unknown.'),
  reason: text(1024).optional().describe('reason is the cause in one word.'),
  message: text(32_768).optional().describe('message is the cause in one sentence.'),
  lastTransitionTime: text(64).optional().describe('lastTransitionTime is when status last changed.'),
  observedGeneration: z
    .int()
    .optional()
    .describe('observedGeneration is the generation of the spec that the condition is based on.'),
});

const conditions = listBy('type', condition, 32);

const member = z.object({
  name: name.describe('name is the name of the member, its EtcdPeer, its pod and its volume.'),
  id: hexId.describe('id is the etcd member ID, in hexadecimal.'),
  role: z
    .enum(['voter', 'learner'])
    .optional()
    .describe('role is voter or learner. A learner has no vote until it is in sync.'),
  healthy: z.boolean().optional().describe('healthy is true if the member was healthy when last checked.'),
  leader: z.boolean().optional().describe('leader is true if the member was the leader when last checked.'),
  version: text(64).optional().describe('version is the etcd version of the member when it last answered.'),
  alarms,
});

const clusterFields = {
  replicas: z.int().describe('replicas is the number of members in the etcd member list.'),
  readyReplicas: z.int().describe('readyReplicas is the number of ready members.'),
  members: listBy('id', member, 64).describe('members are the members in the etcd member list, as last known.'),
  clusterVersion: text(64).describe('clusterVersion is the etcd cluster version, such as 3.6.0; empty while unknown.'),
  serverVersion: text(64).describe('serverVersion is the version of all members.'),
  upgradePath: z
    .array(text(64))
    .max(32)
    .describe('upgradePath are the versions that all members pass through until spec.version.'),
  serviceName: name.describe(
    'serviceName is the name of the Service for clients. The Service with the name of the cluster has the host names of members and the SRV records.',
  ),
  clusterId: hexId.describe('clusterId is the etcd cluster ID, in hexadecimal, once the cluster has formed.'),
  bootstrap: z
    .object({
      members: z.array(name).max(64).describe('members are the names of the bootstrap members.'),
      token: text(512).describe('token is the initial cluster token.'),
      onRetainedVolumes: z
        .boolean()
        .optional()
        .describe(
          'onRetainedVolumes is true if the cluster started on retained volumes of a deleted cluster of the same name.',
        ),
    })
    .describe('bootstrap is how the cluster was formed. It is set once, before the first pod.'),
  paused: z.boolean().describe('paused is true while spec.paused stops the operator from changing the cluster.'),
  heldBy,
  keptVolumes,
  selector: text(512).describe('selector is the label selector of the member pods, for kubectl scale and autoscalers.'),
  conditions: conditions.describe('conditions are the current conditions of the cluster.'),
  observedGeneration: z
    .int()
    .describe('observedGeneration is the generation of the spec that this status is based on.'),
} as const;

const peerFields = {
  serverVersion: text(64).describe(
    'serverVersion is the etcd version of the member; empty while the member does not answer.',
  ),
  id: hexId.describe('id is the etcd member ID, in hexadecimal.'),
  role: z.enum(['voter', 'learner']).describe('role is voter or learner. A learner has no vote until it is in sync.'),
  healthy: z.boolean().describe('healthy is true if the member was healthy when last checked.'),
  leader: z.boolean().describe('leader is true if the member was the leader when last checked.'),
  alarms,
  conditions: conditions.describe('conditions are the current conditions of the peer.'),
  observedGeneration: z
    .int()
    .describe('observedGeneration is the generation of the spec that this status is based on.'),
} as const;

/** The status schemas of the CRDs. */
export const etcdClusterStatus = z.object(clusterFields).partial();
export const etcdPeerStatus = z.object(peerFields).partial();

export type EtcdClusterStatus = z.output<typeof etcdClusterStatus>;
export type EtcdPeerStatus = z.output<typeof etcdPeerStatus>;
export type EtcdClusterCondition = z.output<typeof condition>;

/**
 * A lenient schema for stored status, which may be from the original, from an older operator or edited by hand. Invalid
 * fields are dropped: the operator rewrites the status, and an invalid status must never stop the reconciliation of a
 * cluster.
 */
const lenient = (fields: Readonly<Record<string, z.ZodType>>) =>
  z
    .object(
      Object.fromEntries(Object.entries(fields).map(([field, schema]) => [field, schema.optional().catch(undefined)])),
    )
    .catch({});

export const storedClusterStatus: z.ZodType<EtcdClusterStatus> = lenient(clusterFields);
export const storedClusterStatusOf = parseOnce(storedClusterStatus);
export const storedPeerStatus: z.ZodType<EtcdPeerStatus> = lenient(peerFields);
export const storedPeerStatusOf = parseOnce(storedPeerStatus);
