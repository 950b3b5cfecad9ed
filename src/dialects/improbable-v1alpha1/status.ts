import { z } from 'zod';
import { keptVolumes } from '../kept-volumes.ts';
import { alarms } from '../member-status.ts';
import { listBy, looksLike, ruled, text } from '../rule.ts';

const name = text(253);
const hexId = ruled(text(16), looksLike(/^[0-9a-f]+$/, 'must be a hexadecimal number in small letters'));

const condition = z.object({
  type: text(316).describe('Available, Progressing, Degraded, ClientsMoving or Secured.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it is so.'),
  reason: text(1024).optional().describe('Why, in a word.'),
  message: text(32_768).optional().describe('Why, in a sentence.'),
  lastTransitionTime: text(64).optional().describe('When status last changed.'),
  observedGeneration: z.int().optional().describe('Generation of the spec that it speaks of.'),
});

const conditions = listBy('type', condition, 32);

const member = z.object({
  name: name.describe('Name of the member, and of its EtcdPeer, its pod and its volume.'),
  id: hexId.describe('Number that etcd knows it by, in hexadecimal.'),
  role: z.enum(['voter', 'learner']).optional().describe('A learner does not vote until it has caught up.'),
  healthy: z.boolean().optional().describe('Whether it answered, in sync, when last asked.'),
  leader: z.boolean().optional().describe('Whether it answered, as the leader, when last asked.'),
  version: text(64).optional().describe('Version of etcd it runs, or ran when it last answered.'),
  alarms,
});

const clusterFields = {
  replicas: z.int().describe("How many members etcd's own list has."),
  readyReplicas: z.int().describe('How many members serve.'),
  members: listBy('id', member, 64).describe("Each member of etcd's own list, as last known."),
  clusterVersion: text(64).describe(
    'Version that the cluster as a whole has agreed on, such as 3.6.0; empty while unknown.',
  ),
  serverVersion: text(64).describe('Version that all members run.'),
  upgradePath: z
    .array(text(64))
    .max(32)
    .describe('Versions that all members run in turn until they have arrived at spec.version.'),
  serviceName: name.describe(
    'Service for clients. A name for each member, and SRV records, are at the one named after the cluster.',
  ),
  clusterId: hexId.describe("etcd's number for the cluster, in hexadecimal, once it has formed."),
  bootstrap: z
    .object({
      members: z.array(name).max(64).describe('First members, by name.'),
      token: text(512).describe("The cluster's initial token."),
      onLeftDisks: z
        .boolean()
        .optional()
        .describe('Whether they are those whose volumes were left here by a cluster of the same name.'),
    })
    .describe('How the cluster was formed: decided once, before its first pod, and never again.'),
  paused: z.boolean().describe('Whether the operator leaves the cluster as it is, as spec.paused asks.'),
  heldBy: text(253).describe('The restore for which the operator stands aside, by its uid.'),
  keptVolumes,
  selector: text(512).describe("Label selector of the members' pods, for kubectl scale and autoscalers."),
  conditions: conditions.describe('What is true of the cluster now.'),
  observedGeneration: z.int().describe('Generation of the spec that this status speaks of.'),
} as const;

const peerFields = {
  serverVersion: text(64).describe('Version of etcd it runs; empty while it does not answer.'),
  id: hexId.describe('Number that etcd knows it by, in hexadecimal.'),
  role: z.enum(['voter', 'learner']).describe('A learner does not vote until it has caught up.'),
  healthy: z.boolean().describe('Whether it answered, in sync, when last asked.'),
  leader: z.boolean().describe('Whether it answered, as the leader, when last asked.'),
  alarms,
  conditions: conditions.describe('What is true of the peer now.'),
  observedGeneration: z.int().describe('Generation of the spec that this status speaks of.'),
} as const;

/** What the CRDs say of status. */
export const etcdClusterStatus = z.object(clusterFields).partial();
export const etcdPeerStatus = z.object(peerFields).partial();

export type EtcdClusterStatus = z.output<typeof etcdClusterStatus>;
export type EtcdPeerStatus = z.output<typeof etcdPeerStatus>;
export type Condition = z.output<typeof condition>;

/**
 * Status as it may be found: written by the original, by an older operator, or by hand. A field that makes no sense is as
 * good as absent, because status is ours to write again and must never keep a cluster from being looked after.
 */
const lenient = (fields: Readonly<Record<string, z.ZodType>>) =>
  z
    .object(
      Object.fromEntries(Object.entries(fields).map(([field, schema]) => [field, schema.optional().catch(undefined)])),
    )
    .catch({});

export const foundClusterStatus: z.ZodType<EtcdClusterStatus> = lenient(clusterFields);
export const foundPeerStatus: z.ZodType<EtcdPeerStatus> = lenient(peerFields);
