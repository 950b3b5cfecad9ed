import { isInherited, type Memory } from '../../core/model/cluster.ts';
import { ports } from '../../core/model/template.ts';
import type { ClusterStatus, Condition as CoreCondition } from '../../core/status/cluster-status.ts';
import type { Scaling, Upgrade } from '../../core/status/under-way.ts';
import { merged, type Said, saidOfProblems, saidOfUnobserved } from '../conditions.ts';
import type { Findings } from '../dialect.ts';
import { keptVolumesIn } from '../kept-volumes.ts';
import { stateOf, unasked, unheard } from '../member-status.ts';
import { type EtcdClusterStatus, foundStatus } from './status.ts';

/** What was found, in the words of the original and in some of our own. */
export function writeStatus(findings: Findings, previous: unknown): EtcdClusterStatus {
  const before = foundStatus.parse(previous ?? {});
  const { status, blueprint, generation, now } = findings;
  const { naming, intent } = blueprint;
  return present({
    phase: phaseOf(status),
    reason: status.hasFailed ? troubleOf(status) : undefined,
    controlPaused: status.paused || undefined,
    heldBy: intent.heldBy,
    keptVolumes: keptVolumesIn(status),
    conditions: merged(conditionsOf(status), before.conditions ?? [], now),
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

/** While no member answers, the list that was last known is kept: the next pass has nothing else to go by. */
function memberStatusOf(
  { members, memory }: ClusterStatus,
  before: EtcdClusterStatus['memberStatus'],
): EtcdClusterStatus['memberStatus'] {
  if (members.length > 0) return members.map((member) => stateOf(member, before ?? []));
  return before === undefined ? inherited(memory) : unheard(before);
}

/** What an original has said of members is said again in our words, before its own are replaced by what is seen now. */
const inherited = (memory: Memory): EtcdClusterStatus['memberStatus'] =>
  isInherited(memory) ? memory.voters.map((name) => ({ name, role: 'voter' })) : undefined;

function versionsOf({ memory, path, upgrade }: ClusterStatus, before: EtcdClusterStatus): Partial<EtcdClusterStatus> {
  const currentVersion = memory.version ?? before.currentVersion ?? '';
  const targetVersion = upgrade?.to ?? '';
  return { currentVersion, targetVersion, ...(path.length === 0 ? {} : { upgradePath: [...path] }) };
}

const bootstrapOf = ({ memory: { bootstrap } }: ClusterStatus): EtcdClusterStatus['bootstrap'] =>
  bootstrap === undefined ? undefined : { members: [...bootstrap.members], token: bootstrap.token };

/** Of an object that cannot be read we only say what is wrong with it; what was known of its members stays. */
export function writeProblems(problems: string, previous: unknown, now: Date): EtcdClusterStatus {
  const before = foundStatus.parse(previous ?? {});
  return { ...withSaid(saidOfProblems(problems, before.conditions ?? []), before, now), reason: problems };
}

/** Of a cluster that could not be looked at we only say why; what was known of its members stays. */
export function writeUnobserved(why: string, previous: unknown, now: Date): EtcdClusterStatus {
  const before = foundStatus.parse(previous ?? {});
  return withSaid(saidOfUnobserved(why, before.conditions ?? []), before, now);
}

function withSaid(said: readonly Said[], before: EtcdClusterStatus, now: Date): EtcdClusterStatus {
  const others = (before.conditions ?? []).filter(({ type }) => said.every((each) => each.type !== type));
  const conditions = [...others, ...merged(said, before.conditions ?? [], now)];
  const { memberStatus } = before;
  return { ...before, ...(memberStatus === undefined ? {} : { memberStatus: unasked(memberStatus) }), conditions };
}

function phaseOf({ hasFailed, memory }: ClusterStatus): EtcdClusterStatus['phase'] {
  if (hasFailed) return 'Failed';
  return memory.clusterId === undefined && !isInherited(memory) ? 'Creating' : 'Running';
}

const troubleOf = ({ conditions }: ClusterStatus): string | undefined =>
  conditions.find(({ type }) => type === 'Degraded')?.message;

/** The original's conditions are there or not; ours beside them are true, false or not known. */
const conditionsOf = ({ conditions, upgrade, scaling }: ClusterStatus): readonly Said[] => [
  ...conditions.map(ownWords),
  ...(upgrade === undefined ? [] : [upgrading(upgrade)]),
  ...(scaling === undefined ? [] : [scalingCondition(scaling)]),
];

const upgrading = ({ to, isDowngrade }: Upgrade): Said => ({
  type: 'Upgrading',
  status: 'True',
  reason: isDowngrade ? 'Cluster downgrading' : 'Cluster upgrading',
  message: `${isDowngrade ? 'downgrading' : 'upgrading'} to ${to}`,
});

const scalingCondition = ({ direction, from, to }: Scaling): Said => ({
  type: 'Scaling',
  status: 'True',
  reason: `Scaling ${direction}`,
  message: `Current cluster size: ${from}, desired cluster size: ${to}`,
});

const ownWords = ({ type, status, reason, message }: CoreCondition): Said =>
  type === 'Available' && status === 'True'
    ? { type, status, reason: 'Cluster available', message }
    : { type, status, reason, message };

const present = (status: { [K in keyof EtcdClusterStatus]: EtcdClusterStatus[K] | undefined }): EtcdClusterStatus =>
  Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined));
