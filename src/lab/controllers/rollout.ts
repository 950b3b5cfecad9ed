import { createHash } from 'node:crypto';
import type { Stored } from '../../kube/object.ts';
import type { Deployment, ReplicaSet } from '../kinds.ts';
import { scaled } from './budgets.ts';

export const hashLabel = 'pod-template-hash';

/** A short name for a pod template: it changes exactly when the template does. */
export const templateHash = (deployment: Deployment): string =>
  createHash('sha256').update(JSON.stringify(sorted(deployment.spec?.template))).digest('hex').slice(0, 10);

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

/** How many pods each ReplicaSet of a Deployment should have now. */
export interface Scales {
  readonly current: number;
  readonly old: readonly number[];
}

/** One step of a change from old pods to new ones, by the Deployment's strategy. */
export function nextScales(deployment: Deployment, { current, old }: Sets): Scales {
  const wanted = deployment.spec?.replicas ?? 1;
  const oldPods = sum(old.map(({ status }) => status?.replicas ?? 0));
  if (deployment.spec?.strategy?.type === 'Recreate')
    return { current: oldPods > 0 ? (current?.spec?.replicas ?? 0) : wanted, old: old.map(() => 0) };
  const { maxSurge, maxUnavailable } = limits(deployment, wanted);
  const oldWanted = sum(old.map(({ spec }) => spec?.replicas ?? 0));
  const now = current?.spec?.replicas ?? 0;
  const room = Math.max(0, wanted + maxSurge - oldWanted - now);
  const available = sum([current, ...old].map((set) => set?.status?.availableReplicas ?? 0));
  let spare = Math.max(0, available - (wanted - maxUnavailable));
  const shrunk = old.map(({ spec, status }) => {
    const has = spec?.replicas ?? 0;
    const unready = Math.max(0, has - (status?.availableReplicas ?? 0));
    const taken = Math.min(has, spare + unready);
    spare = Math.max(0, spare - Math.max(0, taken - unready));
    return has - taken;
  });
  return { current: Math.min(wanted, now + room), old: shrunk };
}

function limits({ spec }: Deployment, wanted: number): { readonly maxSurge: number; readonly maxUnavailable: number } {
  const { maxSurge = '25%', maxUnavailable = '25%' } = spec?.strategy?.rollingUpdate ?? {};
  const surge = scaled(maxSurge, wanted);
  const text = String(maxUnavailable);
  const unavailable = text.endsWith('%') ? Math.floor((Number.parseFloat(text) / 100) * wanted) : Number(text);
  return { maxSurge: surge === 0 && unavailable === 0 ? 1 : surge, maxUnavailable: unavailable };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** The Deployment's own account of itself, as `kubectl rollout status` reads it. */
export function deploymentStatus(deployment: Deployment, { current, old }: Sets, time: string) {
  const wanted = deployment.spec?.replicas ?? 1;
  const all = [current, ...old].flatMap((set) => (set === undefined ? [] : [set.status]));
  const count = (field: 'replicas' | 'readyReplicas' | 'availableReplicas'): number =>
    sum(all.map((status) => status?.[field] ?? 0));
  const availableReplicas = count('availableReplicas');
  const updatedReplicas = current?.status?.replicas ?? 0;
  const isAvailable = availableReplicas >= wanted - limits(deployment, wanted).maxUnavailable;
  const isComplete = updatedReplicas === wanted && availableReplicas === wanted && count('replicas') === wanted;
  const name = current?.metadata.name ?? '';
  const conditions = [
    isAvailable
      ? { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: 'Deployment has minimum availability.' }
      : { type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable', message: 'Deployment does not have minimum availability.' },
    isComplete
      ? { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable', message: `ReplicaSet "${name}" has successfully progressed.` }
      : { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated', message: `ReplicaSet "${name}" is progressing.` },
  ];
  const known = deployment.status?.conditions ?? [];
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: count('replicas'),
    updatedReplicas,
    readyReplicas: count('readyReplicas'),
    availableReplicas,
    unavailableReplicas: Math.max(0, wanted - availableReplicas),
    conditions: conditions.map((condition) => {
      const before = known.find(({ type }) => type === condition.type);
      const isSame = before?.status === condition.status;
      const lastUpdateTime = isSame && before.reason === condition.reason ? (before.lastUpdateTime ?? time) : time;
      return { ...condition, lastUpdateTime, lastTransitionTime: isSame ? (before.lastTransitionTime ?? time) : time };
    }),
  };
}
