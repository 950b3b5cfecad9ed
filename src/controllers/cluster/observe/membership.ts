import type { MaybeSeen, Member, MemberPod, Membership, Refusal } from '../../../core/cluster/model/cluster.ts';
import type { MemberId, MemberName } from '../../../core/cluster/model/names.ts';
import { confirmsListLinearizably } from '../../../core/cluster/model/version.ts';
import type { EtcdConnection } from '../../../etcd/client.ts';
import { isRefusal } from '../../../etcd/errors.ts';
import { type EtcdMember, hexOf, type MemberStatus } from '../../../etcd/types.ts';
import { Failure } from '../../../std/failure.ts';
import { describeFailure } from '../failure-message.ts';
import { type RaisedAlarm, withAlarms } from './alarms.ts';

/** A member to ask, and how long to wait for its answer. A healthy member answers within milliseconds. */
export interface Asked {
  /** The member that is expected at this address. */
  readonly name: MemberName;
  readonly connection: Pick<EtcdConnection, 'status' | 'memberList'>;
  readonly asking: { readonly signal: AbortSignal; readonly timeoutMillis: number };
}

interface Answer extends Asked {
  readonly status: MemberStatus;
}

/** Reads the status of every member, and the member list from one member with quorum. */
export async function readMembership(asked: readonly Asked[]): Promise<MaybeSeen<Membership>> {
  if (asked.length === 0) return { seen: false, why: 'no member is running' };
  const results = await Promise.allSettled(asked.map(ask));
  const answers = results.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const failures = results.flatMap((answer) => (answer.status === 'rejected' ? [Failure.from(answer.reason)] : []));
  if (answers.length === 0) return unseen(failures);
  return listByMajority(answers);
}

/** The membership that one member confirms, and the leader that it follows. */
export interface Confirmed {
  readonly membership: Membership;
  readonly leader: bigint;
}

/** Asks one member alone. Undefined if it does not answer, has no quorum, or is a learner. */
export async function readFromOne(asked: Asked): Promise<Confirmed | undefined> {
  try {
    const answer = await ask(asked);
    const { isLearner, clusterId, leader } = answer.status;
    if (isLearner) return undefined;
    return { membership: membershipOf(await listFrom(answer), [answer], clusterId), leader };
  } catch {
    return undefined; // all members are asked next, and the failure is reported then
  }
}

function unseen(failures: readonly Failure[]): MaybeSeen<Membership> {
  const refused = failures.find((failure) => authRefusalOf(failure) !== undefined);
  const first = refused ?? failures[0];
  const problem = first === undefined ? { why: 'no member answers' } : describeFailure(first);
  return { seen: false, ...problem, ...refusal(refused) };
}

const refusal = (thrown: unknown): { readonly refused?: Refusal } => {
  const refused = authRefusalOf(thrown);
  return refused === undefined ? {} : { refused };
};

/** Why etcd refuses the operator's user; undefined for other failures. */
export function authRefusalOf(thrown: unknown): Refusal | undefined {
  if (isRefusal(thrown, 'wrong-password')) return 'unknown-user';
  return isRefusal(thrown, 'auth-needed', 'user-not-found', 'permission-denied') ? 'no-user' : undefined;
}

const ask = async (asked: Asked): Promise<Answer> => ({
  ...asked,
  status: await asked.connection.status(asked.asking),
});

async function listByMajority(answers: readonly Answer[]): Promise<MaybeSeen<Membership>> {
  const inOrder = answers.toSorted((a, b) => Number(leads(b)) - Number(leads(a)));
  let failure: unknown = new Failure('unreachable', 'no member has quorum');
  for (const answer of inOrder) {
    const { isLearner, clusterId } = answer.status;
    if (isLearner) continue; // a learner returns no member list
    try {
      return { seen: true, value: membershipOf(await listFrom(answer), answers, clusterId) };
    } catch (thrown) {
      failure = thrown;
    }
  }
  const problem = describeFailure(Failure.from(failure));
  return { seen: false, ...problem, ...refusal(failure), ...(await unconfirmedOf(inOrder)) };
}

/**
 * Kubernetes may reuse the address of a pod before the cache shows that, for example after a node restart. A member
 * with another name in its own list belongs to another cluster, so its answer is rejected.
 */
async function listFrom(
  { name, connection, asking, status }: Answer,
  { linearizable = true } = {},
): Promise<readonly EtcdMember[]> {
  const isConfirmed = confirmsListLinearizably(withoutBuild(status.version));
  const list = await connection.memberList({ linearizable, isConfirmed, ...asking });
  const itself = list.find(({ id }) => id === status.memberId);
  if (itself === undefined || nameIn(itself) === name) return list;
  throw new Failure('unreachable', `${nameIn(itself)} answers at the address of ${name}`);
}

/** The member list of one member without quorum. */
async function unconfirmedOf(answers: readonly Answer[]): Promise<{ readonly unconfirmed?: Membership }> {
  const source = answers.find(({ status }) => !status.isLearner);
  if (source === undefined) return {};
  return listFrom(source, { linearizable: false }).then(
    (members) => ({ unconfirmed: membershipOf(members, answers, source.status.clusterId) }),
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
    version: status && withoutBuild(status.version),
    raftIndex: status?.raftIndex,
    storageVersion: status?.storageVersion,
    downgradeTarget: status?.downgradeTarget,
  };
}

/** A version without the suffix of a custom build. */
const withoutBuild = (version: string): string => version.replace(/[+-].*$/, '');

/** From 3.4 on, the status of every member lists the alarms of all members among its errors. */
const raisedIn = (answers: readonly Answer[], clusterId: bigint): readonly RaisedAlarm[] =>
  answers
    .filter(({ status }) => status.clusterId === clusterId)
    .flatMap(({ status }) => status.errors.flatMap((text) => alarmIn(text, status.memberId)));

function alarmIn(text: string, source: bigint): readonly RaisedAlarm[] {
  const [, id = String(source), kind] = /(?:memberID:\s*(\d{1,20})\s+)?alarm:\s*(NOSPACE|CORRUPT)/.exec(text) ?? [];
  return kind === undefined ? [] : [{ memberId: BigInt(id), kind }];
}

function healthOf(member: EtcdMember, status: MemberStatus | undefined, clusterId: bigint): Member['health'] {
  if (status === undefined) return member.name === '' ? 'never-started' : 'silent';
  return status.leader !== 0n && status.clusterId === clusterId ? 'healthy' : 'lost';
}

/** The host of the peer URL is the name of the member pod. etcd has no member name before the first start. */
function nameIn({ peerURLs, name }: EtcdMember): MemberName {
  const host = URL.parse(peerURLs[0] ?? '')?.hostname ?? '';
  return (host.split('.')[0] || name) as MemberName;
}

/** A healthy member whose pod is stopping counts as leaving, although it still answers. */
export function withStoppingMembers(
  observation: MaybeSeen<Membership>,
  memberPods: readonly MemberPod[],
): MaybeSeen<Membership> {
  if (!observation.seen) return observation;
  const stopping = new Set(memberPods.filter(({ phase }) => phase === 'stopping').map(({ name }) => name));
  const members = observation.value.members.map((member) =>
    member.health === 'healthy' && stopping.has(member.name) ? { ...member, health: 'leaving' as const } : member,
  );
  return { seen: true, value: { ...observation.value, members } };
}
