import type { Carrier, Member, Membership, Refusal, Sighting } from '../../core/model/cluster.ts';
import type { CarrierName, MemberId } from '../../core/model/names.ts';
import type { EtcdConnection } from '../../etcd/client.ts';
import { isRefusal } from '../../etcd/errors.ts';
import { type EtcdMember, hexOf, type MemberStatus } from '../../etcd/words.ts';
import { Failure } from '../../std/failure.ts';
import { type Raised, withAlarms } from './alarms.ts';
import { plainly } from './plain-words.ts';

/** Whom to ask, and for how long to wait for an answer. A healthy member answers within milliseconds. */
export interface Asked {
  /** Whom we expect there. */
  readonly name: CarrierName;
  readonly connection: Pick<EtcdConnection, 'status' | 'memberList'>;
  readonly asking: { readonly signal: AbortSignal; readonly timeoutMillis: number };
}

interface Answer extends Asked {
  readonly status: MemberStatus;
}

/** Asks every member how it is, and one of them, with a majority behind it, who they all are. */
export async function seeMembership(asked: readonly Asked[]): Promise<Sighting<Membership>> {
  if (asked.length === 0) return { seen: false, why: 'no member is running' };
  const told = await Promise.allSettled(asked.map(ask));
  const answers = told.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const failures = told.flatMap((answer) => (answer.status === 'rejected' ? [Failure.from(answer.reason)] : []));
  if (answers.length === 0) return unseen(failures);
  return listByMajority(answers);
}

function unseen(failures: readonly Failure[]): Sighting<Membership> {
  const refused = failures.find((failure) => refusalOf(failure) !== undefined);
  const first = refused ?? failures[0];
  const words = first === undefined ? { why: 'no member answers' } : plainly(first);
  return { seen: false, ...words, ...refusal(refused) };
}

const refusal = (thrown: unknown): { readonly refused?: Refusal } => {
  const refused = refusalOf(thrown);
  return refused === undefined ? {} : { refused };
};

/** Whether etcd does not let our user in, and why. */
export function refusalOf(thrown: unknown): Refusal | undefined {
  if (isRefusal(thrown, 'wrong-password')) return 'unknown-user';
  return isRefusal(thrown, 'auth-needed', 'user-not-found', 'permission-denied') ? 'no-user' : undefined;
}

const ask = async (asked: Asked): Promise<Answer> => ({
  ...asked,
  status: await asked.connection.status(asked.asking),
});

async function listByMajority(answers: readonly Answer[]): Promise<Sighting<Membership>> {
  const inOrder = answers.toSorted((a, b) => Number(leads(b)) - Number(leads(a)));
  let failure: unknown = new Failure('unreachable', 'no member has a majority behind it');
  for (const answer of inOrder) {
    const { isLearner, clusterId } = answer.status;
    if (isLearner) continue; // it may not be asked
    try {
      return { seen: true, value: membershipOf(await listFrom(answer), answers, clusterId) };
    } catch (thrown) {
      failure = thrown;
    }
  }
  const words = plainly(Failure.from(failure));
  return { seen: false, ...words, ...refusal(failure), ...(await rumourOf(inOrder)) };
}

/**
 * Addresses are given to others while our copy of a pod still has them, as when a node starts again: who is another in its own
 * list is a member of another cluster, and says nothing of this one.
 */
async function listFrom(
  { name, connection, asking, status }: Answer,
  { linearizable = true } = {},
): Promise<readonly EtcdMember[]> {
  const list = await connection.memberList({ linearizable, ...asking });
  const itself = list.find(({ id }) => id === status.memberId);
  if (itself === undefined || nameIn(itself) === name) return list;
  throw new Failure('unreachable', `${nameIn(itself)} answers at the address of ${name}`);
}

/** What one member knows by itself. */
async function rumourOf(answers: readonly Answer[]): Promise<{ readonly rumour?: Membership }> {
  const teller = answers.find(({ status }) => !status.isLearner);
  if (teller === undefined) return {};
  return listFrom(teller, { linearizable: false }).then(
    (members) => ({ rumour: membershipOf(members, answers, teller.status.clusterId) }),
    () => ({}),
  );
}

const leads = ({ status }: Answer): boolean => status.leader === status.memberId;

function membershipOf(list: readonly EtcdMember[], answers: readonly Answer[], clusterId: bigint): Membership {
  const byId = new Map(answers.map(({ status }) => [status.memberId, status]));
  const members = list.map((member) => memberOf(member, byId.get(member.id), clusterId));
  return withAlarms({ clusterId: hexOf(clusterId), members }, raisedIn(answers, clusterId));
}

function memberOf(member: EtcdMember, status: MemberStatus | undefined, clusterId: bigint): Member {
  return {
    id: member.id as MemberId,
    name: nameIn(member),
    peerURLs: member.peerURLs,
    role: member.isLearner ? 'learner' : 'voter',
    health: healthOf(member, status, clusterId),
    hasNeverServed: member.clientURLs.length === 0,
    leads: status !== undefined && status.leader === status.memberId,
    version: status?.version.replace(/[+-].*$/, ''), // what a builder has added to it decides nothing
    raftIndex: status?.raftIndex,
    storageVersion: status?.storageVersion,
    downgradeTarget: status?.downgradeTarget,
  };
}

/** From 3.4 on, every member says among what is wrong which alarms any member has raised. */
const raisedIn = (answers: readonly Answer[], clusterId: bigint): readonly Raised[] =>
  answers
    .filter(({ status }) => status.clusterId === clusterId)
    .flatMap(({ status }) => status.errors.flatMap((text) => alarmIn(text, status.memberId)));

function alarmIn(text: string, teller: bigint): readonly Raised[] {
  const [, id = String(teller), kind] = /(?:memberID:\s*(\d{1,20})\s+)?alarm:\s*(NOSPACE|CORRUPT)/.exec(text) ?? [];
  return kind === undefined ? [] : [{ memberId: BigInt(id), kind }];
}

function healthOf(member: EtcdMember, status: MemberStatus | undefined, clusterId: bigint): Member['health'] {
  if (status === undefined) return member.name === '' ? 'never-started' : 'silent';
  return status.leader !== 0n && status.clusterId === clusterId ? 'healthy' : 'lost';
}

/** Its peer URL says which carrier is its body, also before it has started and told its name. */
function nameIn({ peerURLs, name }: EtcdMember): CarrierName {
  const host = URL.parse(peerURLs[0] ?? '')?.hostname ?? '';
  return (host.split('.')[0] || name) as CarrierName;
}

/** Whoever has been told to stop is as good as gone, however well it still answers. */
export function withLeavers(sighting: Sighting<Membership>, carriers: readonly Carrier[]): Sighting<Membership> {
  if (!sighting.seen) return sighting;
  const stopping = new Set(carriers.filter(({ phase }) => phase === 'stopping').map(({ name }) => name));
  const members = sighting.value.members.map((member) =>
    member.health === 'healthy' && stopping.has(member.name) ? { ...member, health: 'leaving' as const } : member,
  );
  return { seen: true, value: { ...sighting.value, members } };
}
