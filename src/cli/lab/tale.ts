import type { KubeObject } from '../../kube/object.ts';

export interface MemberState {
  readonly name: string;
  readonly role?: string;
  readonly healthy?: boolean;
  readonly leader?: boolean;
  readonly version?: string;
}

export interface ConditionState {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** What the lab reads of an EtcdCluster to tell of it; the two APIs have other words for some. */
export interface EtcdCluster extends KubeObject {
  readonly spec?: { readonly size?: number; readonly replicas?: number; readonly version?: string };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly readyMembers?: number;
    readonly readyReplicas?: number;
    readonly currentVersion?: string;
    readonly serverVersion?: string;
    readonly memberStatus?: readonly MemberState[];
    /** In the second API; the first has something else of that name. */
    readonly members?: readonly MemberState[];
    readonly conditions?: readonly ConditionState[];
  };
}

const firstGroup = 'etcd.database.coreos.com';
const groupOf = ({ apiVersion }: EtcdCluster): string => apiVersion.split('/')[0] ?? '';

/** Tells clusters of all APIs and namespaces apart. */
export const clusterKey = (cluster: EtcdCluster): string =>
  `${groupOf(cluster)} ${cluster.metadata.namespace}/${cluster.metadata.name}`;

/** What people call it: most clusters are of the first API, in the namespace that one works in. */
export function titleOf(cluster: EtcdCluster): string {
  const { namespace, name } = cluster.metadata;
  const group = groupOf(cluster);
  return `${namespace === 'default' ? '' : `${namespace}/`}${name}${group === firstGroup ? '' : ` of ${group}`}`;
}

export function membersOf(cluster: EtcdCluster | undefined): readonly MemberState[] {
  if (cluster?.status === undefined) return [];
  const { memberStatus, members } = cluster.status;
  return (groupOf(cluster) === firstGroup ? memberStatus : members) ?? [];
}

export const conditionOf = (cluster: EtcdCluster | undefined, type: string): ConditionState | undefined =>
  cluster?.status?.conditions?.find((condition) => condition.type === type);

const is = (cluster: EtcdCluster | undefined, type: string, status: string): boolean =>
  conditionOf(cluster, type)?.status === status;

/** Whether a condition says more than that all is well. What is blocked or paused is not under way, and is said all the same. */
export const isWorthSaying = (condition: ConditionState | undefined): condition is ConditionState =>
  condition !== undefined &&
  (condition.status === 'True' || (condition.type === 'Progressing' && (condition.message ?? '') !== ''));

/** It serves, and there is nothing left to do for the operator. */
export const isSettled = (cluster: EtcdCluster | undefined): boolean =>
  cluster !== undefined &&
  cluster.status?.observedGeneration === cluster.metadata.generation &&
  is(cluster, 'Available', 'True') &&
  is(cluster, 'Progressing', 'False') &&
  !isWorthSaying(conditionOf(cluster, 'Progressing')) &&
  is(cluster, 'Degraded', 'False');

/** What happened between two looks at a cluster, in lines for people. */
export function whatHappened(before: EtcdCluster | undefined, after: EtcdCluster): readonly string[] {
  return [
    ...operatorSays(before, after, 'Progressing'),
    ...membersTell(membersOf(before), membersOf(after)),
    ...availability(before, after),
    ...operatorSays(before, after, 'Degraded'),
    ...(isSettled(after) && !isSettled(before) ? [`as desired: ${servingOf(after)}`] : []),
  ];
}

export function servingOf({ status = {}, spec = {} }: EtcdCluster): string {
  const ready = status.readyMembers ?? status.readyReplicas ?? 0;
  const version = status.currentVersion ?? (status.serverVersion || spec.version);
  return `${ready} of ${spec.size ?? spec.replicas} members serve, etcd ${withoutDigest(version)}`;
}

const withoutDigest = (version = ''): string => version.replace(/@.*$/, '');

const sentenceOf = ({ reason = '', message = '' }: ConditionState): string =>
  [reason, message].filter((part) => part !== '').join(': ');

function operatorSays(before: EtcdCluster | undefined, after: EtcdCluster, type: string): readonly string[] {
  const now = conditionOf(after, type);
  if (!isWorthSaying(now)) return [];
  const then = conditionOf(before, type);
  const isNew = !isWorthSaying(then) || sentenceOf(then) !== sentenceOf(now);
  return isNew ? [`${type === 'Degraded' ? 'trouble' : 'operator'}: ${sentenceOf(now)}`] : [];
}

function availability(before: EtcdCluster | undefined, after: EtcdCluster): readonly string[] {
  const wasAvailable = is(before, 'Available', 'True');
  const now = conditionOf(after, 'Available');
  if (now === undefined || wasAvailable === (now.status === 'True')) return [];
  return now.status === 'True' ? ['the cluster is available'] : [`the cluster is not available: ${sentenceOf(now)}`];
}

function membersTell(before: readonly MemberState[], after: readonly MemberState[]): readonly string[] {
  const known = new Map(before.map((member) => [member.name, member]));
  const left = before.filter(({ name }) => !after.some((member) => member.name === name));
  return [
    ...left.map(({ name }) => `member ${name} has left`),
    ...after.flatMap((member) => memberTells(known.get(member.name), member)),
  ];
}

function memberTells(before: MemberState | undefined, after: MemberState): readonly string[] {
  const then: Partial<MemberState> = before ?? {};
  const joined = before === undefined ? `is in etcd's list, as a ${after.role}` : `is a ${after.role} now`;
  const told = [
    ...(then.role === after.role ? [] : [joined]),
    ...(then.healthy === after.healthy ? [] : [after.healthy === true ? 'is healthy' : 'is not healthy']),
    ...(then.leader !== true && after.leader === true ? ['leads'] : []),
  ];
  return told.map((what) => `member ${after.name} ${what}`);
}
