import { EtcdFailure } from './errors.ts';
import {
  AlarmType,
  type KeyValue as KeyValueMessage,
  type Member,
  type ResponseHeader,
  type StatusResponse,
} from './gen/etcd_pb.ts';

/** A 64-bit member ID, too wide for a `number`. Zero means no member. */
export type MemberId = bigint;

/** An ID in hex, as in etcd's logs and in `etcdctl`. */
export const hexOf = (id: bigint): string => id.toString(16);

/** An entry of etcd's member list. */
export interface EtcdMember {
  readonly id: MemberId;
  /** Empty until the member has started once. */
  readonly name: string;
  readonly peerURLs: readonly string[];
  readonly clientURLs: readonly string[];
  readonly isLearner: boolean;
}

/** The status of one member, from its local state. A partitioned member answers too. */
export interface MemberStatus {
  readonly memberId: MemberId;
  readonly clusterId: bigint;
  readonly version: string;
  /** The leader's ID; zero without a leader. */
  readonly leader: MemberId;
  readonly raftIndex: bigint;
  readonly raftTerm: bigint;
  readonly revision: bigint;
  readonly isLearner: boolean;
  readonly dbSize: bigint;
  readonly errors: readonly string[];
  /** Since 3.4, as the next field. */
  readonly raftAppliedIndex?: bigint;
  readonly dbSizeInUse?: bigint;
  /** Since 3.6, as the next field. */
  readonly storageVersion?: string;
  readonly dbSizeQuota?: bigint;
  /** The target version, while a downgrade is enabled. */
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

/** A written or deleted key. A deleted key has no value. */
export interface KeyEvent {
  readonly kind: 'put' | 'delete';
  readonly pair: KeyValue;
}

/** The most members that a list may have. The largest supported cluster has nine. */
const mostMembers = 64;
/** Limits: entries of a list in a member, characters of a name or URL, characters of a version. */
const most = { each: 16, text: 2048, version: 64 } as const;

/** Throws if texts are too many or too long. Answers are not trusted: the author of the spec chooses the image. */
function assertSmall(
  texts: readonly string[],
  { of, longest }: { readonly of: string; readonly longest: number },
): void {
  const isSmall = texts.length <= most.each && texts.every((each) => each.length <= longest);
  if (!isSmall) throw new EtcdFailure('unreachable', `etcd returned a ${of} that is too long`, { mayBeDone: true });
}

export function memberOf({ id, name, peerUrls, clientUrls, isLearner }: Member): EtcdMember {
  for (const texts of [[name], peerUrls, clientUrls]) assertSmall(texts, { of: 'name or address', longest: most.text });
  return { id, name, peerURLs: peerUrls, clientURLs: clientUrls, isLearner };
}

export function membersOf(members: readonly Member[]): readonly EtcdMember[] {
  if (members.length <= mostMembers) return members.map(memberOf);
  const message = `etcd lists ${members.length} members; at most ${mostMembers} are accepted`;
  throw new EtcdFailure('unreachable', message, { mayBeDone: true });
}

export function memberStatusOf(answer: StatusResponse): MemberStatus {
  const { memberId, clusterId, revision } = headerOf(answer);
  const { version, leader, raftIndex, raftTerm, isLearner, dbSize } = answer;
  const errors = answer.errors.slice(0, most.each).map((text) => text.slice(0, most.text));
  const versions = [version, answer.storageVersion ?? '', answer.downgradeInfo?.targetVersion ?? ''];
  assertSmall(versions, { of: 'version', longest: most.version });
  return {
    memberId,
    clusterId,
    revision,
    version,
    leader,
    raftIndex,
    raftTerm,
    isLearner,
    dbSize,
    errors,
    ...defined({
      raftAppliedIndex: answer.raftAppliedIndex,
      dbSizeInUse: answer.dbSizeInUse,
      storageVersion: answer.storageVersion,
      dbSizeQuota: answer.dbSizeQuota,
      downgradeTarget: answer.downgradeInfo?.enabled === true ? answer.downgradeInfo.targetVersion : undefined,
    }),
  };
}

type Header = Pick<ResponseHeader, 'memberId' | 'clusterId' | 'revision'>;

/** An answer without a header gets zeros, which match no member. */
export const headerOf = ({ header }: { readonly header?: ResponseHeader | undefined }): Header =>
  header ?? { memberId: 0n, clusterId: 0n, revision: 0n };

/** Drops undefined fields. */
const defined = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
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
