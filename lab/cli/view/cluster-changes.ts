import type { KubeObject } from '../../../src/kube/object.ts';

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

/** The fields of an EtcdCluster that the lab reads. Some have different names in the two APIs. */
export interface EtcdCluster extends KubeObject {
  readonly spec?: { readonly size?: number; readonly replicas?: number; readonly version?: string };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly readyMembers?: number;
    readonly readyReplicas?: number;
    readonly currentVersion?: string;
    readonly serverVersion?: string;
    readonly memberStatus?: readonly MemberState[];
    /** In the improbable API; status.members of the coreos API is something else. */
    readonly members?: readonly MemberState[];
    readonly conditions?: readonly ConditionState[];
  };
}

const coreosGroup = 'etcd.database.coreos.com';
const groupOf = ({ apiVersion }: EtcdCluster): string => apiVersion.split('/')[0] ?? '';

/** Identifies a cluster by API group, namespace and name. */
export const clusterKey = (cluster: EtcdCluster): string =>
  `${groupOf(cluster)} ${cluster.metadata.namespace}/${cluster.metadata.name}`;

/** The name of a cluster for display. The default namespace and the coreos API are omitted. */
export function titleOf(cluster: EtcdCluster): string {
  const { namespace, name } = cluster.metadata;
  const group = groupOf(cluster);
  return `${namespace === 'default' ? '' : `${namespace}/`}${name}${group === coreosGroup ? '' : ` of ${group}`}`;
}

export function membersOf(cluster: EtcdCluster | undefined): readonly MemberState[] {
  if (cluster?.status === undefined) return [];
  const { memberStatus, members } = cluster.status;
  return (groupOf(cluster) === coreosGroup ? memberStatus : members) ?? [];
}

export const conditionOf = (cluster: EtcdCluster | undefined, type: string): ConditionState | undefined =>
  cluster?.status?.conditions?.find((condition) => condition.type === type);

const is = (cluster: EtcdCluster | undefined, type: string, status: string): boolean =>
  conditionOf(cluster, type)?.status === status;

/** True if a condition has something to report. A blocked or paused cluster is not progressing, but has a message. */
export const isNotable = (condition: ConditionState | undefined): condition is ConditionState =>
  condition !== undefined &&
  (condition.status === 'True' || (condition.type === 'Progressing' && (condition.message ?? '') !== ''));

/** True if the cluster is available and the operator has nothing left to do. */
export const isSettled = (cluster: EtcdCluster | undefined): boolean =>
  cluster !== undefined &&
  cluster.status?.observedGeneration === cluster.metadata.generation &&
  is(cluster, 'Available', 'True') &&
  is(cluster, 'Progressing', 'False') &&
  !isNotable(conditionOf(cluster, 'Progressing')) &&
  is(cluster, 'Degraded', 'False');

/** The changes between two states of a cluster, as lines for the user. */
export function changesOf(before: EtcdCluster | undefined, after: EtcdCluster): readonly string[] {
  return [
    ...conditionChanges(before, after, 'Progressing'),
    ...memberChanges(membersOf(before), membersOf(after)),
    ...availability(before, after),
    ...conditionChanges(before, after, 'Degraded'),
    ...(isSettled(after) && !isSettled(before) ? [`healthy: ${summaryOf(after)}`] : []),
  ];
}

export function summaryOf({ status = {}, spec = {} }: EtcdCluster): string {
  const ready = status.readyMembers ?? status.readyReplicas ?? 0;
  const version = status.currentVersion ?? (status.serverVersion || spec.version);
  return `${ready} of ${spec.size ?? spec.replicas} members ready, etcd ${withoutDigest(version)}`;
}

const withoutDigest = (version = ''): string => version.replace(/@.*$/, '');

const sentenceOf = ({ reason = '', message = '' }: ConditionState): string =>
  [reason, message].filter((part) => part !== '').join(': ');

function conditionChanges(before: EtcdCluster | undefined, after: EtcdCluster, type: string): readonly string[] {
  const now = conditionOf(after, type);
  if (!isNotable(now)) return [];
  const then = conditionOf(before, type);
  const isNew = !isNotable(then) || sentenceOf(then) !== sentenceOf(now);
  return isNew ? [`${type === 'Degraded' ? 'degraded' : 'operator'}: ${sentenceOf(now)}`] : [];
}

function availability(before: EtcdCluster | undefined, after: EtcdCluster): readonly string[] {
  const wasAvailable = is(before, 'Available', 'True');
  const now = conditionOf(after, 'Available');
  if (now === undefined || wasAvailable === (now.status === 'True')) return [];
  return now.status === 'True' ? ['the cluster is available'] : [`the cluster is not available: ${sentenceOf(now)}`];
}

function memberChanges(before: readonly MemberState[], after: readonly MemberState[]): readonly string[] {
  const known = new Map(before.map((member) => [member.name, member]));
  const left = before.filter(({ name }) => !after.some((member) => member.name === name));
  return [
    ...left.map(({ name }) => `member ${name} was removed`),
    ...after.flatMap((member) => changesOfMember(known.get(member.name), member)),
  ];
}

function changesOfMember(before: MemberState | undefined, after: MemberState): readonly string[] {
  const then: Partial<MemberState> = before ?? {};
  const joined = before === undefined ? `joined as ${after.role}` : `is now a ${after.role}`;
  const changes = [
    ...(then.role === after.role ? [] : [joined]),
    ...(then.healthy === after.healthy ? [] : [after.healthy === true ? 'is healthy' : 'is unhealthy']),
    ...(then.leader !== true && after.leader === true ? ['is the leader'] : []),
  ];
  return changes.map((what) => `member ${after.name} ${what}`);
}
