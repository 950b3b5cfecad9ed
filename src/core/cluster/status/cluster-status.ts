import type { Reason } from '../../reasons.ts';
import { alarmMessage, alarmsIn, isCorrupt } from '../model/alarms.ts';
import { type ClusterWorld, isKnown, type Member, type MemberPod, type Memory } from '../model/cluster.ts';
import type { MemberName } from '../model/names.ts';
import { type KeptUntil, untilOf } from '../model/removed-volumes.ts';
import { isSameVersion } from '../model/version.ts';
import { hasFormed } from '../plan/bootstrap/has-formed.ts';
import { isWithoutQuorum, lostQuorumMessage, mayServeUnreached, unreachableMembers } from '../plan/heal/unreachable.ts';
import { routeOf } from '../plan/roll/outdated.ts';
import type { MemberStep, Verdict } from '../plan/step.ts';
import { clientMigrationCondition } from './client-migration.ts';
import { type Finding, isDown, troublesOf } from './trouble.ts';
import { isUnderWay, type Scaling, scalingOf, type Upgrade, upgradeOf } from './under-way.ts';

export interface ClusterCondition {
  readonly type: 'Available' | 'Progressing' | 'Degraded' | 'ClientsMoving' | 'Secured';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: Reason;
  readonly message: string;
}

/** The status of a cluster, independent of its API. A dialect translates it into the status of its API. */
export interface ClusterStatus {
  readonly memory: Memory;
  /** The number of members in etcd's member list; before the cluster has formed, of bootstrap members. */
  readonly size: number;
  readonly ready: readonly MemberName[];
  readonly unready: readonly MemberName[];
  readonly members: readonly Member[];
  /** Set only while the number of members, or their version, is changing. */
  readonly scaling: Scaling | undefined;
  readonly upgrade: Upgrade | undefined;
  /** The remaining versions of the upgrade path; empty if members run spec.version, or if there is no upgrade path. */
  readonly path: readonly string[];
  /** True if user action is needed, or if a majority has been down for a while. */
  readonly hasFailed: boolean;
  /** Retained PVCs of removed members, in the order of their deletion. */
  readonly keptVolumes: readonly KeptUntil[];
  readonly paused: boolean;
  readonly conditions: readonly ClusterCondition[];
}

/** Errors of a pass: `failure` prevented its steps, `aside` did not. */
export interface PassErrors {
  readonly failure?: Error | undefined;
  readonly aside?: Error | undefined;
}

/** Computes the status at the end of every pass, from the world, the verdict and the errors of its steps. */
export function statusOf(world: ClusterWorld, verdict: Verdict, { failure, aside }: PassErrors = {}): ClusterStatus {
  const members = world.membership.seen ? world.membership.value.members : [];
  const memory = remembered(world, verdict.is === 'act' && failure === undefined ? verdict.steps : []);
  const path = pathOf(world);
  const away = unreachableMembers(world);
  const isReady = ({ ready, name }: MemberPod): boolean => ready && !away.includes(name);
  return {
    memory,
    size: sizeOf(members, memory),
    ready: namesOf(world.memberPods.filter(isReady)),
    unready: namesOf(world.memberPods.filter((memberPod) => memberPod.phase === 'running' && !isReady(memberPod))),
    members,
    scaling: scalingOf(world, verdict),
    upgrade: upgradeOf(world, verdict, path),
    path,
    hasFailed: isDown(world) || (verdict.is === 'wait' && verdict.needsUserAction === true),
    keptVolumes: keptVolumesOf(world),
    paused: world.intent.paused,
    conditions: [
      available(world),
      progressing(world, verdict),
      degraded(troublesOf(world, verdict, failure ?? aside)),
      ...clientMigrationCondition(world),
    ],
  };
}

const sizeOf = (members: readonly Member[], { voters, bootstrap }: Memory): number =>
  members.length || voters.length || (bootstrap?.members.length ?? 0);

/** The memory for the next pass. */
function remembered({ memory, membership }: ClusterWorld, steps: readonly MemberStep[]): Memory {
  const bootstrap = steps.find((step) => step.kind === 'record-bootstrap')?.bootstrap ?? memory.bootstrap;
  const clusterId = steps.find((step) => step.kind === 'record-formation')?.clusterId ?? memory.clusterId;
  const voters = membership.seen
    ? namesOf(membership.value.members.filter(({ role }) => role === 'voter'))
    : memory.voters;
  return { bootstrap, clusterId, voters, version: versionOfAll(membership) ?? memory.version };
}

const keptVolumesOf = ({ keptVolumes = [], intent }: ClusterWorld): readonly KeptUntil[] =>
  keptVolumes
    .map((volume) => ({ claim: volume.claim, member: volume.member, until: untilOf(volume, intent) }))
    .toSorted((a, b) => (a.until ?? 0) - (b.until ?? 0) || a.claim.localeCompare(b.claim));

function versionOfAll(membership: ClusterWorld['membership']): string | undefined {
  const versions = new Set(membership.seen ? membership.value.members.map(({ version }) => version) : []);
  return versions.size === 1 ? [...versions][0] : undefined;
}

const namesOf = (those: readonly (MemberPod | Member)[]): readonly MemberName[] =>
  those.map(({ name }) => name).toSorted();

function pathOf(world: ClusterWorld): readonly string[] {
  if (!isKnown(world)) return [];
  const route = routeOf(world);
  const arrived = world.membership.value.members.every(({ version }) => isSameVersion(version, world.intent.version));
  return arrived || !route.passable ? [] : route.hops.map(({ version }) => version);
}

/**
 * True only if etcd has answered with quorum in this pass and a pod is ready, because the Service has no endpoints
 * otherwise. Unknown if only the operator cannot reach etcd.
 */
function available(world: ClusterWorld): ClusterCondition {
  const type = 'Available';
  if (!isWithoutQuorum(world)) return { type, ...serving(world) };
  if (!hasFormed(world))
    return { type, status: 'False', reason: 'Creating', message: 'the cluster has not formed yet' };
  const status = mayServeUnreached(world) ? 'Unknown' : 'False';
  return { type, status, reason: 'NoContact', message: lostQuorumMessage(world) };
}

function serving(world: ClusterWorld): Omit<ClusterCondition, 'type'> {
  if (isCorrupt(world)) return { status: 'False', reason: 'AlarmRaised', message: alarmMessage(alarmsIn(world)) };
  return world.memberPods.some(({ ready }) => ready)
    ? { status: 'True', reason: 'AsDesired', message: '' }
    : { status: 'False', reason: 'NotReady', message: 'no member pod is ready' };
}

/** The reason is that of the verdict, also if the status of the condition is False. */
const progressing = (world: ClusterWorld, verdict: Verdict): ClusterCondition =>
  verdict.is === 'settled'
    ? { type: 'Progressing', status: 'False', reason: 'AsDesired', message: '' }
    : {
        type: 'Progressing',
        status: isUnderWay(world, verdict) ? 'True' : 'False',
        reason: verdict.reason,
        message: verdict.message,
      };

function degraded(troubles: readonly Finding[]): ClusterCondition {
  const [worst] = troubles;
  if (worst === undefined) return { type: 'Degraded', status: 'False', reason: 'AsDesired', message: '' };
  const message = [...new Set(troubles.map((each) => each.message))].join('; ');
  return { type: 'Degraded', status: 'True', reason: worst.reason, message };
}
