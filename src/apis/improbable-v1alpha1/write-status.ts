import { compareVersions, minorOf, parseVersion } from '../../core/cluster/model/version.ts';
import type { ClusterStatus } from '../../core/cluster/status/cluster-status.ts';
import type { Findings } from '../common/dialect.ts';
import { conditionsOfProblems, conditionsOfUnobserved } from '../common/status/conditions.ts';
import { dropHealth, markUnhealthy, memberStateOf } from '../common/status/member-status.ts';
import { keptVolumesIn } from '../common/status/removed-volumes.ts';
import { type EtcdClusterCondition, type EtcdClusterStatus, storedClusterStatusOf } from './status.ts';

type NewCondition = Omit<EtcdClusterCondition, 'lastTransitionTime'>;

/** The status: the original's fields and conditions. */
export function writeStatus({ status, blueprint, generation, now }: Findings, previous: unknown): EtcdClusterStatus {
  const before = storedClusterStatusOf(previous);
  const { naming, intent } = blueprint;
  const conditions = status.conditions.map(
    (condition): NewCondition => ({ ...condition, ...generationOf(generation) }),
  );
  return present({
    ...membersOf(status, before),
    ...versionsOf(status, before),
    serviceName: naming.clientService,
    clusterId: status.memory.clusterId,
    bootstrap: bootstrapOf(status),
    paused: status.paused || undefined,
    heldBy: intent.heldBy,
    keptVolumes: keptVolumesIn(status),
    selector: Object.entries(naming.clusterLabels)
      .map((pair) => pair.join('='))
      .join(','),
    conditions: mergeConditions(conditions, before.conditions ?? [], now),
    observedGeneration: generation,
  });
}

const generationOf = (generation: number | undefined): Pick<EtcdClusterCondition, 'observedGeneration'> =>
  generation === undefined ? {} : { observedGeneration: generation };

/** While no member answers, the last known list is kept, as in the original: the next pass depends on it. */
function membersOf({ size, ready, members }: ClusterStatus, before: EtcdClusterStatus): EtcdClusterStatus {
  const known = before.members ?? [];
  const seen = members.map((member) => memberStateOf(member, known));
  return { replicas: size, readyReplicas: ready.length, members: seen.length > 0 ? seen : markUnhealthy(known) };
}

/** Unlike the member list, the cluster version is empty while no member answers, as in the original. */
function versionsOf({ members, path }: ClusterStatus, before: EtcdClusterStatus): EtcdClusterStatus {
  const running = members.flatMap(({ version }) => version ?? []);
  const serverVersion = running.length === members.length && new Set(running).size === 1 ? running[0] : undefined;
  return {
    clusterVersion: clusterVersionOf(running),
    serverVersion: serverVersion ?? before.serverVersion ?? '',
    ...(path.length === 0 ? {} : { upgradePath: [...path] }),
  };
}

/** The cluster version is the minor version of the oldest member. */
function clusterVersionOf(running: readonly string[]): string {
  const known = running.flatMap((text) => {
    const parsed = parseVersion(text);
    return parsed === undefined ? [] : [{ text, parsed }];
  });
  const oldest = known.toSorted((a, b) => compareVersions(a.parsed, b.parsed))[0];
  return oldest === undefined ? '' : minorOf(oldest.text);
}

function bootstrapOf({ memory: { bootstrap } }: ClusterStatus): EtcdClusterStatus['bootstrap'] {
  if (bootstrap === undefined) return undefined;
  const { members, token, onRetainedVolumes } = bootstrap;
  return { members: [...members], token, ...(onRetainedVolumes === true ? { onRetainedVolumes } : {}) };
}

/** The status of a cluster with an invalid spec: the problems, and the last known members. */
export function writeProblems(problems: string, previous: unknown, now: Date): EtcdClusterStatus {
  const before = storedClusterStatusOf(previous);
  return withConditions(conditionsOfProblems(problems, before.conditions ?? []), before, now);
}

/** The status of a cluster that could not be observed: the reason, and the last known members. */
export function writeUnobserved(why: string, previous: unknown, now: Date): EtcdClusterStatus {
  const before = storedClusterStatusOf(previous);
  return withConditions(conditionsOfUnobserved(why, before.conditions ?? []), before, now);
}

function withConditions(added: readonly NewCondition[], before: EtcdClusterStatus, now: Date): EtcdClusterStatus {
  const others = (before.conditions ?? []).filter(({ type }) => added.every((each) => each.type !== type));
  const conditions = [...others, ...mergeConditions(added, before.conditions ?? [], now)];
  return { ...before, ...(before.members === undefined ? {} : { members: dropHealth(before.members) }), conditions };
}

/** Adds transition times to conditions. A time changes only with the status. */
const mergeConditions = (
  conditions: readonly NewCondition[],
  before: readonly EtcdClusterCondition[],
  now: Date,
): EtcdClusterCondition[] =>
  conditions.map((condition) => {
    const old = before.find(({ type }) => type === condition.type);
    const time = now.toISOString().replace(/\.\d+Z$/, 'Z');
    const lastTransitionTime = old?.status === condition.status ? (old.lastTransitionTime ?? time) : time;
    return { ...condition, lastTransitionTime };
  });

const present = (status: { [K in keyof EtcdClusterStatus]: EtcdClusterStatus[K] | undefined }): EtcdClusterStatus =>
  Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined));
