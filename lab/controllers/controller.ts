import { randomBytes } from 'node:crypto';
import type { V1PodTemplateSpec } from '@kubernetes/client-node';
import type { KubeClient } from '../../src/kube/client.ts';
import { type Json, type KubeObject, keyOf, type Pod } from '../../src/kube/object.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { EventRecorder } from '../../src/runtime/events.ts';
import type { Runnable } from '../../src/runtime/manager.ts';
import type { Outcome } from '../../src/runtime/outcome.ts';
import type { ChangeHandler, Store } from '../../src/runtime/store.ts';
import { WorkQueue } from '../../src/runtime/work-queue.ts';
import { workers } from '../../src/runtime/worker.ts';
import type { Failure } from '../../src/std/failure.ts';
import type { LabStores } from '../caches.ts';

/** What all controllers of the lab need. */
export interface ControllerContext {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly stores: LabStores;
  readonly recorder: EventRecorder;
  readonly onFailure: (failure: Failure) => void;
}

export interface ControllerOptions {
  /** Subscribes to stores, and adds the keys to reconcile. */
  readonly watch: (add: (key: string) => void) => void;
  readonly reconcile: (key: string) => Promise<Outcome>;
  readonly workers?: number;
}

/** Runs a reconcile loop. Changes add keys; one key is reconciled by one worker at a time. */
export function controller({ clock, onFailure }: ControllerContext, options: ControllerOptions): Runnable {
  const queue = new WorkQueue<string>(clock);
  const onOutcome = (_: string, outcome: Outcome): void => {
    if (outcome.is !== 'failed') return;
    const { kind } = outcome.failure;
    if (kind !== 'conflict' && kind !== 'not-found') onFailure(outcome.failure);
  };
  const loop = workers({ queue, reconcile: options.reconcile, count: options.workers ?? 4, clock, onOutcome });
  return async (signal) => {
    options.watch((key) => queue.add(key));
    await loop(signal);
  };
}

/** Adds the key of a changed object. */
export const ownKey =
  <T extends KubeObject>(add: (key: string) => void): ChangeHandler<T> =>
  ({ object }) =>
    add(keyOf(object.metadata));

/** Adds the key of an object's controlling owner of a kind. */
export const ownerKey =
  <T extends KubeObject>(kind: string, add: (key: string) => void): ChangeHandler<T> =>
  ({ object: { metadata } }) => {
    const owner = (metadata.ownerReferences ?? []).find((each) => each.controller === true && each.kind === kind);
    if (owner !== undefined) add(keyOf({ namespace: metadata.namespace, name: owner.name }));
  };

/** Adds the keys of all objects in the same namespace. */
export const sameNamespaceKeys =
  <T extends KubeObject, U extends KubeObject>(store: Store<U>, add: (key: string) => void): ChangeHandler<T> =>
  ({ object: { metadata } }) => {
    for (const each of store.all()) if (each.metadata.namespace === metadata.namespace) add(keyOf(each.metadata));
  };

export const ownerReference = ({ apiVersion, kind, metadata }: KubeObject) => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});

export const isReady = (pod: {
  readonly status?: { readonly conditions?: readonly { type: string; status: string }[] };
}): boolean => (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');

/** The names of a pod's PVCs. */
export const claimsOf = ({ spec }: Pod): readonly string[] =>
  (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) => (claim === undefined ? [] : [claim.claimName]));

/** A pod from the template of its owner. */
export function podOf(owner: KubeObject, template: Json<V1PodTemplateSpec> | undefined, own: Labels = {}): Pod {
  const { namespace = '', name } = owner.metadata;
  const { metadata: given = {}, spec = { containers: [] } } = template ?? {};
  const { labels, annotations = {} } = given;
  const metadata = { name: `${name}-${randomBytes(3).toString('hex').slice(0, 5)}`, namespace };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, labels: { ...labels, ...own }, annotations, ownerReferences: [ownerReference(owner)] },
    spec,
  };
}

type Labels = Readonly<Record<string, string>>;
