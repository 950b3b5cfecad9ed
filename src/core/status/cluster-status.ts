import {
  type Carrier,
  type CarrierName,
  type ClusterWorld,
  isInherited,
  type Member,
  type Memory,
} from '../model/cluster.ts';
import { isSameVersion } from '../model/version.ts';
import { routeOf } from '../plan/cluster/outdated.ts';
import type { Step, Verdict } from '../plan/cluster/step.ts';
import { hasQuorum } from '../quorum.ts';
import type { Reason } from '../reasons.ts';
import { clientsMoving } from './client-move.ts';

export interface Condition {
  readonly type: 'Available' | 'Progressing' | 'Degraded' | 'ClientsMoving' | 'Secured';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: Reason;
  readonly message: string;
}

/** The whole truth about a cluster, in our own words; a dialect says it in those of its API. */
export interface ClusterStatus {
  readonly memory: Memory;
  /** The number of members in etcd's list; of founders, before there is a list. */
  readonly size: number;
  readonly ready: readonly CarrierName[];
  readonly unready: readonly CarrierName[];
  readonly members: readonly Member[];
  readonly change: 'creating' | 'growing' | 'shrinking' | 'upgrading' | 'none';
  /** What all members run in turn until they run what the spec says; empty when they do, or when there is no way. */
  readonly path: readonly string[];
  readonly needsPerson: boolean;
  readonly paused: boolean;
  readonly conditions: readonly Condition[];
}

/** What went wrong: `failure` kept a pass from its steps, `aside` did not. */
export interface Trouble {
  readonly failure?: Error | undefined;
  readonly aside?: Error | undefined;
}

/** Computed in one place, at the end of every pass, from what was seen, decided and done. */
export function statusOf(world: ClusterWorld, verdict: Verdict, { failure, aside }: Trouble = {}): ClusterStatus {
  const members = world.membership.seen ? world.membership.value.members : [];
  const memory = remembered(world, verdict.is === 'act' && failure === undefined ? verdict.steps : []);
  return {
    memory,
    size: sizeOf(members, memory),
    ready: namesOf(world.carriers.filter((carrier) => carrier.ready)),
    unready: namesOf(world.carriers.filter((carrier) => carrier.phase === 'running' && !carrier.ready)),
    members,
    change: changeOf(verdict),
    path: pathOf(world),
    needsPerson: verdict.is === 'wait' && verdict.needsPerson === true,
    paused: world.intent.paused,
    conditions: [
      available(world),
      progressing(verdict),
      degraded(world, verdict, failure ?? aside),
      ...clientsMoving(world),
    ],
  };
}

const sizeOf = (members: readonly Member[], { voters, bootstrap }: Memory): number =>
  members.length || voters.length || (bootstrap?.members.length ?? 0);

/** What the next pass will know without asking anybody. */
function remembered({ memory, membership }: ClusterWorld, steps: readonly Step[]): Memory {
  const bootstrap = steps.find((step) => step.kind === 'remember-bootstrap')?.bootstrap ?? memory.bootstrap;
  const clusterId = steps.find((step) => step.kind === 'remember-formation')?.clusterId ?? memory.clusterId;
  const voters = membership.seen
    ? namesOf(membership.value.members.filter(({ role }) => role === 'voter'))
    : memory.voters;
  return { bootstrap, clusterId, voters, version: versionOfAll(membership) ?? memory.version };
}

function versionOfAll(membership: ClusterWorld['membership']): string | undefined {
  const versions = new Set(membership.seen ? membership.value.members.map(({ version }) => version) : []);
  return versions.size === 1 ? [...versions][0] : undefined;
}

const namesOf = (those: readonly (Carrier | Member)[]): readonly CarrierName[] =>
  those.map(({ name }) => name).toSorted();

const changes: Partial<Record<Reason, ClusterStatus['change']>> = {
  Creating: 'creating',
  Forming: 'creating',
  Formed: 'creating',
  ScalingUp: 'growing',
  MemberStarting: 'growing',
  ScalingDown: 'shrinking',
  Upgrading: 'upgrading',
};

const changeOf = (verdict: Verdict): ClusterStatus['change'] =>
  verdict.is === 'settled' ? 'none' : (changes[verdict.reason] ?? 'none');

function pathOf(world: ClusterWorld): readonly string[] {
  const route = routeOf(world);
  const members = world.membership.seen ? world.membership.value.members : [];
  const arrived = members.every(({ version }) => isSameVersion(version, world.intent.version));
  return arrived || !route.passable ? [] : route.hops.map(({ version }) => version);
}

/**
 * Never fresher than its evidence: without a word from etcd we do not say that it is available; nor before a pod is ready, as
 * the Service leads clients to no other.
 */
function available({ membership, memory, carriers }: ClusterWorld): Condition {
  const type = 'Available';
  if (membership.seen) {
    if (!hasQuorum(membership.value.members))
      return { type, status: 'False', reason: 'NoContact', message: 'fewer than a majority of the voters are healthy' };
    return carriers.some(({ ready }) => ready)
      ? { type, status: 'True', reason: 'AsDesired', message: '' }
      : { type, status: 'False', reason: 'NotReady', message: 'no pod is ready for clients' };
  }
  if (memory.clusterId === undefined && !isInherited(memory))
    return { type, status: 'False', reason: 'Creating', message: 'the cluster has not formed yet' };
  return { type, status: 'False', reason: 'NoContact', message: membership.why };
}

const progressing = (verdict: Verdict): Condition =>
  verdict.is === 'settled'
    ? { type: 'Progressing', status: 'False', reason: 'AsDesired', message: '' }
    : { type: 'Progressing', status: 'True', reason: verdict.reason, message: verdict.message };

const troubles: ReadonlySet<Reason> = new Set([
  'QuorumLost',
  'WrongCluster',
  'MemberStuck',
  'NoContact',
  'SecretUnfit',
  'BadSpec',
  'UpgradeRefused',
  'AlarmRaised',
  'BackupFailed',
  'MissingRights',
  'VolumeStuck',
]);

function degraded({ unneededSecret }: ClusterWorld, verdict: Verdict, failure: Error | undefined): Condition {
  const type = 'Degraded';
  if (failure !== undefined) return { type, status: 'True', reason: 'StepFailed', message: failure.message };
  if (verdict.is === 'wait' && troubles.has(verdict.reason)) {
    return { type, status: 'True', reason: verdict.reason, message: verdict.message };
  }
  if (unneededSecret !== undefined) return { type, status: 'True', reason: 'SecretUnfit', message: unneededSecret };
  return { type, status: 'False', reason: 'AsDesired', message: '' };
}
