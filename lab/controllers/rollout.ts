import { createHash } from 'node:crypto';
import type { Stored } from '../../src/kube/object.ts';
import type { Deployment, ReplicaSet } from '../kinds.ts';
import { scaled } from './budgets.ts';

export const hashLabel = 'pod-template-hash';

/** The hash of a pod template. */
export const templateHash = (deployment: Deployment): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(deployment.spec?.template)))
    .digest('hex')
    .slice(0, 10);

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]));
}

export interface Sets {
  readonly current: Stored<ReplicaSet> | undefined;
  readonly old: readonly Stored<ReplicaSet>[];
}

export const revisionAnnotation = 'deployment.kubernetes.io/revision';

const revisionOf = (set: ReplicaSet | undefined): number =>
  Number(set?.metadata.annotations?.[revisionAnnotation] ?? 0);

/**
 * The revision of the current template. A template that was rolled back to counts as new, as `kubectl rollout undo`
 * expects.
 */
export function revisionFor({ current, old }: Sets): string {
  const before = Math.max(0, ...old.map(revisionOf));
  return String(revisionOf(current) > before ? revisionOf(current) : before + 1);
}

/** The replicas of each ReplicaSet of a Deployment. */
export interface Scales {
  readonly current: number;
  readonly old: readonly number[];
}

/** The next replicas of each ReplicaSet, by the Deployment's strategy. */
export function nextScales(deployment: Deployment, sets: Sets): Scales {
  const { replicas: wanted = 1, strategy } = deployment.spec ?? {};
  const { current, old } = sets;
  const now = scaleOf(current);
  if (strategy?.type === 'Recreate') {
    const isClear = sum(old.map(podsOf)) === 0;
    return { current: isClear ? wanted : now, old: old.map(() => 0) };
  }
  const { maxSurge, maxUnavailable } = limits(deployment, wanted);
  const room = Math.max(0, wanted + maxSurge - sum(old.map(scaleOf)) - now);
  const available = sum([current, ...old].map(availableOf));
  return { current: Math.min(wanted, now + room), old: scaledDown(old, available - (wanted - maxUnavailable)) };
}

const scaleOf = (set: ReplicaSet | undefined): number => set?.spec?.replicas ?? 0;
const podsOf = (set: ReplicaSet | undefined): number => set?.status?.replicas ?? 0;
const availableOf = (set: ReplicaSet | undefined): number => set?.status?.availableReplicas ?? 0;

/** Scales down unready replicas first, then as many ready ones as can be spared. */
function scaledDown(old: Sets['old'], spare: number): readonly number[] {
  let left = Math.max(0, spare);
  return old.map((set) => {
    const unready = Math.max(0, scaleOf(set) - availableOf(set));
    const taken = Math.min(scaleOf(set), left + unready);
    left -= Math.max(0, taken - unready);
    return scaleOf(set) - taken;
  });
}

function limits({ spec }: Deployment, wanted: number): { readonly maxSurge: number; readonly maxUnavailable: number } {
  const given = { maxSurge: '25%', maxUnavailable: '25%', ...spec?.strategy?.rollingUpdate };
  const surge = scaled(given.maxSurge, wanted);
  const maxUnavailable = scaled(given.maxUnavailable, wanted, Math.floor);
  return { maxSurge: surge === 0 && maxUnavailable === 0 ? 1 : surge, maxUnavailable };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** The status of a Deployment, as `kubectl rollout status` reads it. */
export function deploymentStatus(deployment: Deployment, { current, old }: Sets, time: string) {
  const wanted = deployment.spec?.replicas ?? 1;
  const all = [...(current === undefined ? [] : [current]), ...old];
  const replicas = sum(all.map(podsOf));
  const availableReplicas = sum(all.map(availableOf));
  const updatedReplicas = podsOf(current);
  const isAvailable = availableReplicas >= wanted - limits(deployment, wanted).maxUnavailable;
  const isComplete = [updatedReplicas, availableReplicas, replicas].every((count) => count === wanted);
  const conditions = [availability(isAvailable), progress(isComplete, current?.metadata.name ?? '')];
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas,
    updatedReplicas,
    readyReplicas: sum(all.map(({ status }) => status?.readyReplicas ?? 0)),
    availableReplicas,
    unavailableReplicas: Math.max(0, wanted - availableReplicas),
    conditions: conditions.map((condition) => timed(condition, deployment, time)),
  };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

const availability = (isAvailable: boolean): Condition => ({
  type: 'Available',
  status: isAvailable ? 'True' : 'False',
  reason: isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
  message: `Deployment ${isAvailable ? 'has' : 'does not have'} minimum availability.`,
});

const progress = (isComplete: boolean, name: string): Condition => ({
  type: 'Progressing',
  status: 'True',
  reason: isComplete ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated',
  message: `ReplicaSet "${name}" ${isComplete ? 'has successfully progressed' : 'is progressing'}.`,
});

/** A condition keeps its transition time while its status stays, and its update time while its reason stays. */
function timed(condition: Condition, { status }: Deployment, time: string) {
  const before = status?.conditions?.find(({ type }) => type === condition.type);
  if (before?.status !== condition.status) return { ...condition, lastUpdateTime: time, lastTransitionTime: time };
  const { lastTransitionTime = time, lastUpdateTime = time } = before;
  return {
    ...condition,
    lastTransitionTime,
    lastUpdateTime: before.reason === condition.reason ? lastUpdateTime : time,
  };
}
