import { alarmsIn, isCorrupt, sentenceOnAlarms } from '../model/alarms.ts';
import type { Carrier, ClusterWorld, Member, Memory } from '../model/cluster.ts';
import { type KeptUntil, untilOf } from '../model/kept-volumes.ts';
import type { CarrierName } from '../model/names.ts';
import { isSameVersion } from '../model/version.ts';
import { hasFormed } from '../plan/cluster/formed-unseen.ts';
import { routeOf } from '../plan/cluster/outdated.ts';
import type { Step, Verdict } from '../plan/cluster/step.ts';
import {
  isWithoutQuorum,
  mayServeUnheard,
  sentenceOnLostQuorum,
  unreachableMembers,
} from '../plan/cluster/unreachable.ts';
import type { Reason } from '../reasons.ts';
import { clientsMoving } from './client-move.ts';
import { type Finding, isDown, troublesOf } from './trouble.ts';
import { isUnderWay, type Scaling, scalingOf, type Upgrade, upgradeOf } from './under-way.ts';

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
  /** Set only while the number of members, or their version, is really being changed. */
  readonly scaling: Scaling | undefined;
  readonly upgrade: Upgrade | undefined;
  /** What all members run in turn until they run what the spec says; empty when they do, or when there is no way. */
  readonly path: readonly string[];
  /** Whether a person is needed, or a majority has been down for a while. */
  readonly hasFailed: boolean;
  /** Volumes of removed members that are kept, those first that go first. */
  readonly keptVolumes: readonly KeptUntil[];
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
  const path = pathOf(world);
  const away = unreachableMembers(world);
  const isReady = ({ ready, name }: Carrier): boolean => ready && !away.includes(name);
  return {
    memory,
    size: sizeOf(members, memory),
    ready: namesOf(world.carriers.filter(isReady)),
    unready: namesOf(world.carriers.filter((carrier) => carrier.phase === 'running' && !isReady(carrier))),
    members,
    scaling: scalingOf(world, verdict),
    upgrade: upgradeOf(world, verdict, path),
    path,
    hasFailed: isDown(world) || (verdict.is === 'wait' && verdict.needsPerson === true),
    keptVolumes: keptVolumesOf(world),
    paused: world.intent.paused,
    conditions: [
      available(world),
      progressing(world, verdict),
      degraded(troublesOf(world, verdict, failure ?? aside)),
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

const keptVolumesOf = ({ keptVolumes = [], intent }: ClusterWorld): readonly KeptUntil[] =>
  keptVolumes
    .map((volume) => ({ claim: volume.claim, member: volume.member, until: untilOf(volume, intent) }))
    .toSorted((a, b) => (a.until ?? 0) - (b.until ?? 0) || a.claim.localeCompare(b.claim));

function versionOfAll(membership: ClusterWorld['membership']): string | undefined {
  const versions = new Set(membership.seen ? membership.value.members.map(({ version }) => version) : []);
  return versions.size === 1 ? [...versions][0] : undefined;
}

const namesOf = (those: readonly (Carrier | Member)[]): readonly CarrierName[] =>
  those.map(({ name }) => name).toSorted();

function pathOf(world: ClusterWorld): readonly string[] {
  const route = routeOf(world);
  const members = world.membership.seen ? world.membership.value.members : [];
  const arrived = members.every(({ version }) => isSameVersion(version, world.intent.version));
  return arrived || !route.passable ? [] : route.hops.map(({ version }) => version);
}

/**
 * Never fresher than its evidence: without a word from etcd we do not say that it is available; nor before a pod is ready, as
 * the Service leads clients to no other. Where only the operator is cut off, it is not known.
 */
function available(world: ClusterWorld): Condition {
  const type = 'Available';
  if (!isWithoutQuorum(world)) return { type, ...serving(world) };
  if (!hasFormed(world))
    return { type, status: 'False', reason: 'Creating', message: 'the cluster has not formed yet' };
  const status = mayServeUnheard(world) ? 'Unknown' : 'False';
  return { type, status, reason: 'NoContact', message: sentenceOnLostQuorum(world) };
}

function serving(world: ClusterWorld): Omit<Condition, 'type'> {
  if (isCorrupt(world)) return { status: 'False', reason: 'AlarmRaised', message: sentenceOnAlarms(alarmsIn(world)) };
  return world.carriers.some(({ ready }) => ready)
    ? { status: 'True', reason: 'AsDesired', message: '' }
    : { status: 'False', reason: 'NotReady', message: 'no pod is ready for clients' };
}

/** The reason says what is done or waited for, whether it is under way or not. */
const progressing = (world: ClusterWorld, verdict: Verdict): Condition =>
  verdict.is === 'settled'
    ? { type: 'Progressing', status: 'False', reason: 'AsDesired', message: '' }
    : {
        type: 'Progressing',
        status: isUnderWay(world, verdict) ? 'True' : 'False',
        reason: verdict.reason,
        message: verdict.message,
      };

function degraded(troubles: readonly Finding[]): Condition {
  const [worst] = troubles;
  if (worst === undefined) return { type: 'Degraded', status: 'False', reason: 'AsDesired', message: '' };
  const message = [...new Set(troubles.map((each) => each.message))].join('; ');
  return { type: 'Degraded', status: 'True', reason: worst.reason, message };
}
