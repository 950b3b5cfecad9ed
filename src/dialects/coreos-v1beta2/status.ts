import { z } from 'zod';
import { found } from '../conditions.ts';
import { keptVolumes } from '../kept-volumes.ts';
import { alarms } from '../member-status.ts';
import { listBy, looksLike, ruled, text } from '../rule.ts';

const name = text(253);
const hexId = ruled(text(16), looksLike(/^[0-9a-f]+$/, 'must be a hexadecimal number in small letters'));
const names = z.array(name).max(64);

const condition = z.object({
  type: text(316).describe('Available, Scaling, Upgrading or Recovering, as in the original, or one of ours.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it is so.'),
  reason: text(1024).optional().describe('Why, in a word or two.'),
  message: text(32_768).optional().describe('Why, in a sentence.'),
  lastUpdateTime: text(64).optional().describe('When anything in this condition last changed.'),
  lastTransitionTime: text(64).optional().describe('When status last changed.'),
});

const memberStatus = z.object({
  name: name.describe('Name of the member, and of its pod.'),
  id: hexId.optional().describe('Number that etcd knows it by, in hexadecimal.'),
  role: z.enum(['voter', 'learner']).optional().describe('A learner does not vote until it has caught up.'),
  healthy: z.boolean().optional().describe('Whether it answered, in sync, when last asked.'),
  leader: z.boolean().optional().describe('Whether it answered, as the leader, when last asked.'),
  version: text(64).optional().describe('Version of etcd it runs, or ran when it last answered.'),
  alarms,
});

const fields = {
  phase: z
    .enum(['', 'Creating', 'Running', 'Failed'])
    .describe('Creating, Running, or Failed while a person is needed or a majority of members is down.'),
  reason: text(32_768).describe('Why the phase is Failed.'),
  controlPaused: z.boolean().describe('Whether the operator leaves the cluster as it is, as spec.paused asks.'),
  heldBy: text(253).describe('The restore for which the operator stands aside, by its uid.'),
  conditions: listBy('type', condition, 32).describe('What is true of the cluster now.'),
  size: z.int().describe("How many members etcd's own list has."),
  readyMembers: z.int().describe('How many members serve.'),
  members: z
    .object({
      ready: names.optional().describe('Members that serve.'),
      unready: names.optional().describe('Members that run but do not serve.'),
    })
    .describe('Members that run, by name.'),
  memberStatus: listBy('name', memberStatus, 64).describe("Each member of etcd's own list."),
  serviceName: name.describe('Service for clients.'),
  clientPort: z.int().describe('Port of that service.'),
  currentVersion: text(64).describe('Version that all members run.'),
  targetVersion: text(64).describe('Version that an upgrade under way leads to; empty while none is.'),
  upgradePath: z
    .array(text(64))
    .max(32)
    .describe('Versions that all members run in turn until they have arrived at spec.version.'),
  clusterId: hexId.describe("etcd's number for the cluster, in hexadecimal, once it has formed."),
  bootstrap: z
    .object({
      members: names.describe('First members, by name.'),
      token: text(512).describe("The cluster's initial token."),
    })
    .describe('How the cluster was formed: decided once, before its first pod, and never again.'),
  keptVolumes,
  selector: text(512).describe("Label selector of the members' pods, for kubectl scale and autoscalers."),
  observedGeneration: z.int().describe('Generation of the spec that this status speaks of.'),
} as const;

/** What the CRD says of status. */
export const etcdClusterStatus = z.object(fields).partial();

export type EtcdClusterStatus = z.output<typeof etcdClusterStatus>;

export const foundStatus: z.ZodType<EtcdClusterStatus> = found(fields);
