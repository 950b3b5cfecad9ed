import { EtcdFailure } from './errors.ts';
import {
  AlarmType,
  type KeyValue as KeyValueMessage,
  type Member,
  type ResponseHeader,
  type StatusResponse,
} from './gen/etcd_pb.ts';

/** etcd's ids are 64 bits wide: a `number` would lose some of them. Zero is nobody. */
export type MemberId = bigint;

/** An id as etcd prints it in its logs, and as `etcdctl` shows and takes it. */
export const hexOf = (id: bigint): string => id.toString(16);

/** An entry in etcd's own list. */
export interface EtcdMember {
  readonly id: MemberId;
  /** Empty until it has been started for the first time. */
  readonly name: string;
  readonly peerURLs: readonly string[];
  readonly clientURLs: readonly string[];
  readonly isLearner: boolean;
}

/** What one member says of itself, without asking the others: a member that is cut off says it too. */
export interface MemberStatus {
  readonly memberId: MemberId;
  readonly clusterId: bigint;
  readonly version: string;
  /** Whom it follows; zero when it knows of no leader. */
  readonly leader: MemberId;
  readonly raftIndex: bigint;
  readonly raftTerm: bigint;
  readonly revision: bigint;
  readonly isLearner: boolean;
  readonly dbSize: bigint;
  readonly errors: readonly string[];
  /** Only from 3.4 on, as the next. */
  readonly raftAppliedIndex?: bigint;
  readonly dbSizeInUse?: bigint;
  /** Only from 3.6 on, as the next. */
  readonly storageVersion?: string;
  readonly dbSizeQuota?: bigint;
  /** The version that an allowed downgrade leads to, while one is allowed. */
  readonly downgradeTarget?: string;
}

export type AlarmKind = 'no-space' | 'corrupt' | 'unknown';

export interface Alarm {
  readonly memberId: MemberId;
  readonly kind: AlarmKind;
}

export interface KeyValue {
  readonly key: string;
  readonly value: Uint8Array;
  readonly createRevision: bigint;
  readonly modRevision: bigint;
}

export interface KeyValueHash {
  readonly hash: number;
  readonly revision: bigint;
  readonly compactRevision: bigint;
}

/** A key that was written, or that is gone: then there is no value. */
export interface KeyEvent {
  readonly kind: 'put' | 'delete';
  readonly pair: KeyValue;
}

/** The most that the list of a cluster may have; the largest that can be asked for has nine. */
const mostMembers = 64;
/** The most of anything that a member has several of, and the length of names and addresses; versions are short. */
const most = { each: 16, text: 2048, version: 64 } as const;

/** Answers are not trusted, because the author of the spec chooses the image: an answer that is too large is a failure. */
function assertSmall(
  texts: readonly string[],
  { of, longest }: { readonly of: string; readonly longest: number },
): void {
  const isSmall = texts.length <= most.each && texts.every((each) => each.length <= longest);
  if (!isSmall) throw new EtcdFailure('unreachable', `etcd answers with too long a ${of}`, { mayBeDone: true });
}

export function memberOf({ id, name, peerUrls, clientUrls, isLearner }: Member): EtcdMember {
  for (const texts of [[name], peerUrls, clientUrls]) assertSmall(texts, { of: 'name or address', longest: most.text });
  return { id, name, peerURLs: peerUrls, clientURLs: clientUrls, isLearner };
}

export function membersOf(members: readonly Member[]): readonly EtcdMember[] {
  if (members.length <= mostMembers) return members.map(memberOf);
  const says = `etcd lists ${members.length} members, more than the ${mostMembers} that are believed`;
  throw new EtcdFailure('unreachable', says, { mayBeDone: true });
}

export function statusOf(answer: StatusResponse): MemberStatus {
  const { memberId, clusterId, revision } = headerOf(answer);
  const { version, leader, raftIndex, raftTerm, isLearner, dbSize } = answer;
  const errors = answer.errors.slice(0, most.each).map((text) => text.slice(0, most.text));
  const versions = [version, answer.storageVersion ?? '', answer.downgradeInfo?.targetVersion ?? ''];
  assertSmall(versions, { of: 'version', longest: most.version });
  return {
    ...{ memberId, clusterId, revision, version, leader, raftIndex, raftTerm, isLearner, dbSize, errors },
    ...sent({
      raftAppliedIndex: answer.raftAppliedIndex,
      dbSizeInUse: answer.dbSizeInUse,
      storageVersion: answer.storageVersion,
      dbSizeQuota: answer.dbSizeQuota,
      downgradeTarget: answer.downgradeInfo?.enabled === true ? answer.downgradeInfo.targetVersion : undefined,
    }),
  };
}

type Header = Pick<ResponseHeader, 'memberId' | 'clusterId' | 'revision'>;

/** A server that sends no header is none that we know: its zeros match no member. */
export const headerOf = ({ header }: { readonly header?: ResponseHeader | undefined }): Header =>
  header ?? { memberId: 0n, clusterId: 0n, revision: 0n };

/** Leaves out what the server left out. */
const sent = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

export const alarmKindOf = (type: AlarmType): AlarmKind => {
  if (type === AlarmType.NOSPACE) return 'no-space';
  return type === AlarmType.CORRUPT ? 'corrupt' : 'unknown';
};

export const pairOf = ({ key, value, createRevision, modRevision }: KeyValueMessage): KeyValue => ({
  key: new TextDecoder().decode(key),
  value,
  createRevision,
  modRevision,
});
