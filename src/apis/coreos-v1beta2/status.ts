import { z } from 'zod';
import { listBy, looksLike, text, withRules } from '../common/schema/rule.ts';
import { lenient } from '../common/status/conditions.ts';
import { heldBy } from '../common/status/held-by.ts';
import { alarms } from '../common/status/member-status.ts';
import { parseOnce } from '../common/status/parse-once.ts';
import { keptVolumes } from '../common/status/removed-volumes.ts';

const name = text(253);
const hexId = withRules(text(16), looksLike(/^[0-9a-f]+$/, 'must be a lower-case hexadecimal number'));
const names = z.array(name).max(64);

const condition = z.object({
  type: text(316).describe(
    'type is Available, Scaling, Upgrading or Recovering, as in the original, or a type of this operator.',
  ),
  status: z.enum(['True', 'False', 'Unknown']).describe('status is True, False or Unknown.'),
  reason: text(1024).optional().describe('reason is the cause in one or two words.'),
  message: text(32_768).optional().describe('message is the cause in one sentence.'),
  lastUpdateTime: text(64).optional().describe('lastUpdateTime is when any field of the condition last changed.'),
  lastTransitionTime: text(64).optional().describe('lastTransitionTime is when status last changed.'),
});

const memberStatus = z.object({
  name: name.describe('name is the name of the member and of its pod.'),
  id: hexId.optional().describe('id is the etcd member ID, in hexadecimal.'),
  role: z
    .enum(['voter', 'learner'])
    .optional()
    .describe('role is voter or learner. A learner has no vote until it is in sync.'),
  healthy: z.boolean().optional().describe('healthy is true if the member was healthy when last checked.'),
  leader: z.boolean().optional().describe('leader is true if the member was the leader when last checked.'),
  version: text(64).optional().describe('version is the etcd version of the member when it last answered.'),
  alarms,
});

const fields = {
  phase: z
    .enum(['', 'Creating', 'Running', 'Failed'])
    .describe('phase is Creating, Running or Failed. Failed means that manual action is needed or quorum is lost.'),
  reason: text(32_768).describe('reason is why the phase is Failed.'),
  controlPaused: z
    .boolean()
    .describe('controlPaused is true while spec.paused stops the operator from changing the cluster.'),
  heldBy,
  conditions: listBy('type', condition, 32).describe('conditions are the current conditions of the cluster.'),
  size: z.int().describe('size is the number of members in the etcd member list.'),
  readyMembers: z.int().describe('readyMembers is the number of ready members.'),
  members: z
    .object({
      ready: names.optional().describe('ready are the names of ready members.'),
      unready: names.optional().describe('unready are the names of running members that are not ready.'),
    })
    .describe('members are the names of the running members.'),
  memberStatus: listBy('name', memberStatus, 64).describe(
    'memberStatus is the status of each member in the etcd member list.',
  ),
  serviceName: name.describe('serviceName is the name of the Service for clients.'),
  clientPort: z.int().describe('clientPort is the port of the Service for clients.'),
  currentVersion: text(64).describe('currentVersion is the version of all members.'),
  targetVersion: text(64).describe('targetVersion is the target of the running upgrade; empty without one.'),
  upgradePath: z
    .array(text(64))
    .max(32)
    .describe('upgradePath are the versions that all members pass through until spec.version.'),
  clusterId: hexId.describe('clusterId is the etcd cluster ID, in hexadecimal, once the cluster has formed.'),
  bootstrap: z
    .object({
      members: names.describe('members are the names of the bootstrap members.'),
      token: text(512).describe('token is the initial cluster token.'),
    })
    .describe('bootstrap is how the cluster was formed. It is set once, before the first pod.'),
  keptVolumes,
  selector: text(512).describe('selector is the label selector of the member pods, for kubectl scale and autoscalers.'),
  observedGeneration: z
    .int()
    .describe('observedGeneration is the generation of the spec that this status is based on.'),
} as const;

/** The status schema of the CRD. */
export const etcdClusterStatus = z.object(fields).partial();

export type EtcdClusterStatus = z.output<typeof etcdClusterStatus>;

export const storedStatus: z.ZodType<EtcdClusterStatus> = lenient(fields);
export const storedStatusOf = parseOnce(storedStatus);
