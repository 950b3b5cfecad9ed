import { type ClusterIntent, isInherited, type Member, type Memory } from '../../core/model/cluster.ts';
import { ports } from '../../core/model/template.ts';
import type { ClusterStatus, Condition as CoreCondition } from '../../core/status/cluster-status.ts';
import { merged, type Said, saidOfProblems } from '../conditions.ts';
import type { Findings } from '../dialect.ts';
import { keptVolumesIn } from '../kept-volumes.ts';
import { type EtcdClusterStatus, foundStatus } from './status.ts';

/** What was found, in the words of the original and in some of our own. */
export function writeStatus(findings: Findings, previous: unknown): EtcdClusterStatus {
  const before = foundStatus.parse(previous ?? {});
  const { status, blueprint, generation, now } = findings;
  const { naming, intent } = blueprint;
  return present({
    phase: phaseOf(status),
    reason: status.needsPerson ? troubleOf(status) : undefined,
    controlPaused: status.paused || undefined,
    heldBy: intent.heldBy,
    keptVolumes: keptVolumesIn(status),
    conditions: merged(conditionsOf(status, intent), before.conditions ?? [], now),
    ...membersOf(status, before),
    ...versionsOf(status, intent.version, before),
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

/** While nobody answers, what was last known of the members is kept: the next pass has nothing else to go by. */
const membersOf = (
  { size, ready, unready, members, memory }: ClusterStatus,
  before: EtcdClusterStatus,
): Partial<EtcdClusterStatus> => ({
  size,
  readyMembers: ready.length,
  members: { ready: [...ready], unready: [...unready] },
  memberStatus: members.length > 0 ? members.map(memberStatusOf) : (before.memberStatus ?? inherited(memory)),
});

/** What an original has said of members is said again in our words, before its own are replaced by what is seen now. */
const inherited = (memory: Memory): EtcdClusterStatus['memberStatus'] =>
  isInherited(memory) ? memory.voters.map((name) => ({ name, role: 'voter' })) : undefined;

function versionsOf(
  { memory, path }: ClusterStatus,
  wanted: string,
  before: EtcdClusterStatus,
): Partial<EtcdClusterStatus> {
  const currentVersion = memory.version ?? before.currentVersion ?? '';
  const targetVersion = currentVersion !== '' && currentVersion !== wanted ? wanted : '';
  return { currentVersion, targetVersion, ...(path.length === 0 ? {} : { upgradePath: [...path] }) };
}

const bootstrapOf = ({ memory: { bootstrap } }: ClusterStatus): EtcdClusterStatus['bootstrap'] =>
  bootstrap === undefined ? undefined : { members: [...bootstrap.members], token: bootstrap.token };

/** Of an object that cannot be read we only say what is wrong with it; what was known of its members stays. */
export function writeProblems(problems: string, previous: unknown, now: Date): EtcdClusterStatus {
  const before = foundStatus.parse(previous ?? {});
  const said = saidOfProblems(problems, before.conditions ?? []);
  const others = (before.conditions ?? []).filter(({ type }) => said.every((each) => each.type !== type));
  return { ...before, reason: problems, conditions: [...others, ...merged(said, before.conditions ?? [], now)] };
}

function phaseOf({ needsPerson, memory }: ClusterStatus): EtcdClusterStatus['phase'] {
  if (needsPerson) return 'Failed';
  return memory.clusterId === undefined && !isInherited(memory) ? 'Creating' : 'Running';
}

const troubleOf = ({ conditions }: ClusterStatus): string | undefined =>
  conditions.find(({ type }) => type === 'Degraded')?.message;

const memberStatusOf = (member: Member): NonNullable<EtcdClusterStatus['memberStatus']>[number] => ({
  name: member.name,
  id: member.id.toString(16),
  role: member.role,
  healthy: member.health === 'healthy',
  leader: member.leads,
  ...(member.version === undefined ? {} : { version: member.version }),
});

/** The original's conditions are there or not; ours beside them are true, false or not known. */
function conditionsOf(status: ClusterStatus, intent: ClusterIntent): readonly Said[] {
  const ours = status.conditions.map(ownWords);
  const { change, size, path } = status;
  const said = [...ours, ...(path.length > 0 && change !== 'creating' ? [upgrading(intent.version)] : [])];
  return change === 'none' || change === 'upgrading' ? said : [...said, scaling(change, size, intent.size)];
}

const upgrading = (version: string): Said => ({
  type: 'Upgrading',
  status: 'True',
  reason: 'Cluster upgrading',
  message: `upgrading to ${version}`,
});

function scaling(change: ClusterStatus['change'], size: number, wanted: number): Said {
  const reason = change === 'shrinking' ? 'Scaling down' : 'Scaling up';
  const from = change === 'creating' ? 0 : size;
  const message = `Current cluster size: ${from}, desired cluster size: ${wanted}`;
  return { type: 'Scaling', status: 'True', reason, message };
}

const ownWords = ({ type, status, reason, message }: CoreCondition): Said =>
  type === 'Available' && status === 'True'
    ? { type, status, reason: 'Cluster available', message }
    : { type, status, reason, message };

const present = (status: { [K in keyof EtcdClusterStatus]: EtcdClusterStatus[K] | undefined }): EtcdClusterStatus =>
  Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined));
