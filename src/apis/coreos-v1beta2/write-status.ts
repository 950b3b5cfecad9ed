import { isInherited, type Memory } from '../../core/cluster/model/cluster.ts';
import { ports } from '../../core/cluster/model/template.ts';
import type { ClusterStatus, ClusterCondition as CoreCondition } from '../../core/cluster/status/cluster-status.ts';
import type { Scaling, Upgrade } from '../../core/cluster/status/under-way.ts';
import type { Findings } from '../common/dialect.ts';
import {
  conditionsOfProblems,
  conditionsOfUnobserved,
  mergeConditions,
  type NewCondition,
} from '../common/status/conditions.ts';
import { dropHealth, markUnhealthy, memberStateOf } from '../common/status/member-status.ts';
import { keptVolumesIn } from '../common/status/removed-volumes.ts';
import { type EtcdClusterStatus, storedStatusOf } from './status.ts';

/** The status: the original's fields and our own. */
export function writeStatus(findings: Findings, previous: unknown): EtcdClusterStatus {
  const before = storedStatusOf(previous);
  const { status, blueprint, generation, now } = findings;
  const { naming, intent } = blueprint;
  return present({
    phase: phaseOf(status),
    reason: status.hasFailed ? troubleOf(status) : undefined,
    controlPaused: status.paused || undefined,
    heldBy: intent.heldBy,
    keptVolumes: keptVolumesIn(status),
    conditions: mergeConditions(conditionsOf(status), before.conditions ?? [], now),
    ...membersOf(status, before),
    ...versionsOf(status, before),
    serviceName: naming.clientService,
    clientPort: ports.client,
    clusterId: status.memory.clusterId,
    bootstrap: bootstrapOf(status),
    selector: Object.entries(naming.clusterLabels)
      .map((pair) => pair.join('='))
      .join(','),
    observedGeneration: generation,
  });
}

const membersOf = (status: ClusterStatus, before: EtcdClusterStatus): Partial<EtcdClusterStatus> => ({
  size: status.size,
  readyMembers: status.ready.length,
  members: { ready: [...status.ready], unready: [...status.unready] },
  memberStatus: memberStatusOf(status, before.memberStatus),
});

/** While no member answers, the last known list is kept, because the next pass depends on it. */
function memberStatusOf(
  { members, memory }: ClusterStatus,
  before: EtcdClusterStatus['memberStatus'],
): EtcdClusterStatus['memberStatus'] {
  if (members.length > 0) return members.map((member) => memberStateOf(member, before ?? []));
  return before === undefined ? inherited(memory) : markUnhealthy(before);
}

/** Copies the members from the original's status into ours, before the original's list is overwritten. */
const inherited = (memory: Memory): EtcdClusterStatus['memberStatus'] =>
  isInherited(memory) ? memory.voters.map((name) => ({ name, role: 'voter' })) : undefined;

function versionsOf({ memory, path, upgrade }: ClusterStatus, before: EtcdClusterStatus): Partial<EtcdClusterStatus> {
  const currentVersion = memory.version ?? before.currentVersion ?? '';
  const targetVersion = upgrade?.to ?? '';
  return { currentVersion, targetVersion, ...(path.length === 0 ? {} : { upgradePath: [...path] }) };
}

const bootstrapOf = ({ memory: { bootstrap } }: ClusterStatus): EtcdClusterStatus['bootstrap'] =>
  bootstrap === undefined ? undefined : { members: [...bootstrap.members], token: bootstrap.token };

/** The status of a cluster with an invalid spec: the problems, and the last known members. */
export function writeProblems(problems: string, previous: unknown, now: Date): EtcdClusterStatus {
  const before = storedStatusOf(previous);
  return { ...withConditions(conditionsOfProblems(problems, before.conditions ?? []), before, now), reason: problems };
}

/** The status of a cluster that could not be observed: the reason, and the last known members. */
export function writeUnobserved(why: string, previous: unknown, now: Date): EtcdClusterStatus {
  const before = storedStatusOf(previous);
  return withConditions(conditionsOfUnobserved(why, before.conditions ?? []), before, now);
}

function withConditions(added: readonly NewCondition[], before: EtcdClusterStatus, now: Date): EtcdClusterStatus {
  const others = (before.conditions ?? []).filter(({ type }) => added.every((each) => each.type !== type));
  const conditions = [...others, ...mergeConditions(added, before.conditions ?? [], now)];
  const { memberStatus } = before;
  return { ...before, ...(memberStatus === undefined ? {} : { memberStatus: dropHealth(memberStatus) }), conditions };
}

function phaseOf({ hasFailed, memory }: ClusterStatus): EtcdClusterStatus['phase'] {
  if (hasFailed) return 'Failed';
  return memory.clusterId === undefined && !isInherited(memory) ? 'Creating' : 'Running';
}

const troubleOf = ({ conditions }: ClusterStatus): string | undefined =>
  conditions.find(({ type }) => type === 'Degraded')?.message;

/** The original's conditions are present or absent; our own have a status. */
const conditionsOf = ({ conditions, upgrade, scaling }: ClusterStatus): readonly NewCondition[] => [
  ...conditions.map(withOriginalReason),
  ...(upgrade === undefined ? [] : [upgrading(upgrade)]),
  ...(scaling === undefined ? [] : [scalingCondition(scaling)]),
];

const upgrading = ({ to, isDowngrade }: Upgrade): NewCondition => ({
  type: 'Upgrading',
  status: 'True',
  reason: isDowngrade ? 'Cluster downgrading' : 'Cluster upgrading',
  message: `${isDowngrade ? 'downgrading' : 'upgrading'} to ${to}`,
});

const scalingCondition = ({ direction, from, to }: Scaling): NewCondition => ({
  type: 'Scaling',
  status: 'True',
  reason: `Scaling ${direction}`,
  message: `Current cluster size: ${from}, desired cluster size: ${to}`,
});

const withOriginalReason = ({ type, status, reason, message }: CoreCondition): NewCondition =>
  type === 'Available' && status === 'True'
    ? { type, status, reason: 'Cluster available', message }
    : { type, status, reason, message };

const present = (status: { [K in keyof EtcdClusterStatus]: EtcdClusterStatus[K] | undefined }): EtcdClusterStatus =>
  Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined));
