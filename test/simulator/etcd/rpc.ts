import { Code, ConnectError } from '@connectrpc/connect';
import { quorumOf } from '../../../src/core/quorum.ts';
import { AlarmType } from '../../../src/etcd/gen/etcd_pb.ts';
import type { EtcdGroup } from './group.ts';
import type { SimulatedEtcd } from './process.ts';
import { hash64, type MemberEntry, minorIn, patchIn } from './types.ts';

type Fields = Readonly<Record<string, unknown>>;

const refuse = (message: string, code = Code.FailedPrecondition): never => {
  throw new ConnectError(`etcdserver: ${message}`, code);
};

/** A member answers most calls only once its cluster has a leader and a majority. */
type Answer = object | 'waits';

/** Answers a call as etcd does. Throws etcd's refusals. */
export function answerTo(process: SimulatedEtcd, method: string, request: Fields): Answer {
  const { group, entry } = process;
  if (group === undefined) return 'waits';
  if (method === 'Status') return statusOf(process, group);
  if (entry === undefined) return 'waits';
  return entry.isLearner
    ? refuse('rpc not supported for learner', Code.Unavailable)
    : asVoter(process, group, { method, request });
}

interface Call {
  readonly method: string;
  readonly request: Fields;
}

function asVoter(process: SimulatedEtcd, group: EtcdGroup, { method, request }: Call): Answer {
  if (method === 'Authenticate') return refuse('authentication is not enabled');
  if (method === 'MemberList' && request['linearizable'] === false) return listOf(process, process.config);
  return reachesLeader(process, group) ? handlerOf(method)(process, group, request) : 'waits';
}

function handlerOf(method: string): Handler {
  const handler = handlers[method];
  if (handler === undefined) throw new ConnectError('unknown method', Code.Unimplemented);
  return handler;
}

const reachesLeader = (process: SimulatedEtcd, group: EtcdGroup): boolean =>
  group.leader !== undefined && group.canTalk(process, group.leader);

type Handler = (process: SimulatedEtcd, group: EtcdGroup, request: Fields) => object;

const handlers: Readonly<Record<string, Handler>> = {
  Range: (process, group) => {
    group.settle(); // stands for the writes of clients
    return { header: headerOf(process), kvs: [], count: 0n };
  },
  MemberList: (process, group) => listOf(process, group.entries),
  MemberAdd: addMember,
  MemberRemove: removeMember,
  MemberPromote: promoteMember,
  MemberUpdate: (_, group, { id, peerUrls }) => {
    const peerURL = (peerUrls as readonly string[])[0] ?? '';
    group.changeMembers(group.entries.map((each) => (each.id === id ? { ...each, peerURL } : each)));
    return {};
  },
  MoveLeader: moveLeader,
  Downgrade: downgrade,
  Alarm: (_, group) => ({
    alarms: group.alarms.map(({ memberId, kind }) => ({ memberId, alarm: AlarmType[kind] })),
  }),
  HashKV: (process) => ({ header: headerOf(process), hash: 1, compactRevision: 0n }),
};

const headerOf = ({ data }: SimulatedEtcd) => ({
  clusterId: data?.group.id ?? 0n,
  memberId: data?.memberId ?? 0n,
  revision: BigInt(data?.index ?? 0),
});

const listOf = (process: SimulatedEtcd, entries: readonly MemberEntry[]): object => ({
  header: headerOf(process),
  members: entries.map(({ id, name, peerURL, clientURLs, isLearner }) => ({
    id,
    name,
    peerUrls: [peerURL],
    clientUrls: clientURLs,
    isLearner,
  })),
});

function statusOf(process: SimulatedEtcd, group: EtcdGroup): object {
  const { version, data, entry } = process;
  return {
    header: headerOf(process),
    version,
    leader: leaderFor(process, group),
    raftIndex: BigInt(data?.index ?? 0),
    raftTerm: BigInt(group.term),
    isLearner: entry?.isLearner === true,
    dbSize: 1n,
    errors: group.alarms.map(({ memberId, kind }) => `memberID:${memberId} alarm:${kind} `),
    ...(minorIn(version) >= 6 ? storageOf(process, group) : {}),
  };
}

/** The leader that a member follows; 0 without one. */
const leaderFor = (process: SimulatedEtcd, group: EtcdGroup): bigint =>
  process.entry !== undefined && reachesLeader(process, group) ? (group.leader?.data?.memberId ?? 0n) : 0n;

/** The fields that 3.6 has added. */
function storageOf({ version, data }: SimulatedEtcd, { downgradeTarget: target }: EtcdGroup): object {
  const storageVersion = `3.${data?.storageMinor ?? minorIn(version)}.0`;
  return target === undefined
    ? { storageVersion }
    : { storageVersion, downgradeInfo: { enabled: true, targetVersion: `3.${target}.0` } };
}

const healthMillis = 5_000;

/** From these patches on, an addition needs a quorum of connected members; before, all voters. */
const needsQuorumOnly = (version: string): boolean => {
  const [minor, patch] = [minorIn(version), patchIn(version)];
  return minor >= 7 || (minor === 6 && patch >= 11) || (minor === 5 && patch >= 30);
};

function addMember({ version }: SimulatedEtcd, group: EtcdGroup, request: Fields): object {
  const peerURL = (request['peerUrls'] as readonly string[])[0] ?? '';
  const isLearner = request['isLearner'] === true;
  const { entries } = group;
  if (entries.some((each) => each.peerURL === peerURL)) refuse('Peer URLs already exists');
  if (isLearner && entries.some((each) => each.isLearner)) refuse('too many learner members in cluster');
  confirmAddition(group, { version, isLearner });
  const id = hash64(`${peerURL} ${group.committed}`);
  const added: MemberEntry = { id, name: '', peerURL, clientURLs: [], isLearner };
  group.changeMembers([...entries, added]);
  return { member: { id, name: '', peerUrls: [peerURL], clientUrls: [], isLearner } };
}

/** Strict reconfiguration: voters are started, and have been connected for the health interval. */
function confirmAddition(group: EtcdGroup, { version, isLearner }: { version: string; isLearner: boolean }): void {
  const voters = votersOf(group.entries);
  if (voters.length === 1) return;
  if (!isLearner && startedOf(voters).length < quorumOf(voters.length + 1))
    refuse('re-configuration failed due to not enough started members');
  const { leader } = group;
  const connected = leader === undefined ? [] : votersOf(group.connectedFor(leader, healthMillis));
  const needed = needsQuorumOnly(version) ? quorumOf(voters.length + 1) : voters.length;
  if (connected.length < needed) refuse('unhealthy cluster', Code.Unavailable);
}

const votersOf = (entries: readonly MemberEntry[]): readonly MemberEntry[] =>
  entries.filter(({ isLearner }) => !isLearner);

const startedOf = (entries: readonly MemberEntry[]): readonly MemberEntry[] =>
  entries.filter(({ name }) => name !== '');

function removeMember(_: SimulatedEtcd, group: EtcdGroup, { id }: Fields): object {
  const victim = group.entries.find((each) => each.id === id);
  if (victim === undefined) throw new ConnectError('etcdserver: member not found', Code.NotFound);
  if (!victim.isLearner) confirmRemoval(group, victim);
  group.changeMembers(group.entries.filter((each) => each !== victim));
  return {};
}

function confirmRemoval(group: EtcdGroup, victim: MemberEntry): void {
  const left = group.entries.filter((each) => !each.isLearner && each !== victim);
  if (left.filter(({ name }) => name !== '').length < quorumOf(left.length))
    refuse('re-configuration failed due to not enough started members');
  const { leader } = group;
  if (leader === undefined || group.processOf(victim) === undefined) return;
  const connected = group.connectedFor(leader, healthMillis).filter((each) => left.includes(each)).length;
  if (connected < quorumOf(left.length)) refuse('unhealthy cluster', Code.Unavailable);
}

function promoteMember(_: SimulatedEtcd, group: EtcdGroup, { id }: Fields): object {
  const learner = group.entries.find((each) => each.id === id);
  if (learner === undefined) throw new ConnectError('etcdserver: member not found', Code.NotFound);
  if (!learner.isLearner) refuse('can only promote a learner member');
  if (learner.name === '' || !group.hasCaughtUp(learner))
    refuse('can only promote a learner member which is in sync with leader');
  const voters = group.entries.filter((each) => !each.isLearner);
  if (voters.filter(({ name }) => name !== '').length + 1 < quorumOf(voters.length + 1))
    refuse('re-configuration failed due to not enough started members');
  group.changeMembers(group.entries.map((each) => (each === learner ? { ...each, isLearner: false } : each)));
  return {};
}

function moveLeader(process: SimulatedEtcd, group: EtcdGroup, { targetId }: Fields): object {
  if (group.leader !== process) refuse('not leader');
  const target = group.entries.find(({ id, isLearner }) => id === targetId && !isLearner);
  const to = target === undefined ? undefined : group.processOf(target);
  if (to === undefined || !group.canTalk(process, to)) return refuse('bad leader transferee');
  if ((to.data?.index ?? 0) < group.committed) refuse('leader transfer took too long', Code.Unavailable);
  group.moveLeader(to);
  return {};
}

const actions = ['validate', 'enable', 'cancel'] as const;

function downgrade(_: SimulatedEtcd, group: EtcdGroup, request: Fields): object {
  const action = actions[Number(request['action'])] ?? 'validate';
  const target = minorIn(String(request['version']));
  if (action === 'cancel') {
    if (group.downgradeTarget === undefined) refuse('no inflight downgrade job');
    group.downgradeTarget = undefined;
  } else {
    if (target !== group.clusterMinor - 1) refuse('downgrade target version is invalid');
    if (group.downgradeTarget !== undefined) refuse('cluster has a downgrade job in progress');
    if (action === 'enable') group.downgradeTarget = target;
  }
  group.settle();
  return { version: `3.${group.clusterMinor}.0` };
}
