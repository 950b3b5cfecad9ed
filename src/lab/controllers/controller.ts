import { randomBytes } from 'node:crypto';
import type { V1PodTemplateSpec } from '@kubernetes/client-node';
import type { KubeClient } from '../../kube/client.ts';
import { type Json, type KubeObject, keyOf, type Pod } from '../../kube/object.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { EventRecorder } from '../../runtime/events.ts';
import type { Runnable } from '../../runtime/manager.ts';
import type { Outcome } from '../../runtime/outcome.ts';
import type { ChangeHandler, Store } from '../../runtime/store.ts';
import { WorkQueue } from '../../runtime/work-queue.ts';
import { workers } from '../../runtime/worker.ts';
import type { Failure } from '../../std/failure.ts';
import type { LabStores } from '../caches.ts';

/** What all controllers of the lab work with. */
export interface Tools {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly stores: LabStores;
  readonly recorder: EventRecorder;
  readonly onTrouble: (failure: Failure) => void;
}

export interface ControllerOptions {
  /** Subscribes to what matters, and adds the keys to look at. */
  readonly watch: (add: (key: string) => void) => void;
  readonly reconcile: (key: string) => Promise<Outcome>;
  readonly workers?: number;
}

/** A loop over keys: whatever changes has its key looked at, one at a time for each key. */
export function controller({ clock, onTrouble }: Tools, options: ControllerOptions): Runnable {
  const queue = new WorkQueue<string>(clock);
  const onOutcome = (_: string, outcome: Outcome): void => {
    if (outcome.is !== 'failed') return;
    const { kind } = outcome.failure;
    if (kind !== 'conflict' && kind !== 'not-found') onTrouble(outcome.failure);
  };
  const loop = workers({ queue, reconcile: options.reconcile, count: options.workers ?? 4, clock, onOutcome });
  return async (signal) => {
    options.watch((key) => queue.add(key));
    await loop(signal);
  };
}

/** Adds an object's own key whenever it changes. */
export const ownKey =
  <T extends KubeObject>(add: (key: string) => void): ChangeHandler<T> =>
  ({ object }) =>
    add(keyOf(object.metadata));

/** Adds the key of an object's controlling owner of that kind. */
export const ownerKey =
  <T extends KubeObject>(kind: string, add: (key: string) => void): ChangeHandler<T> =>
  ({ object: { metadata } }) => {
    const owner = (metadata.ownerReferences ?? []).find((each) => each.controller === true && each.kind === kind);
    if (owner !== undefined) add(keyOf({ namespace: metadata.namespace, name: owner.name }));
  };

/** Adds the keys of all objects of the same namespace. */
export const siblings =
  <T extends KubeObject, U extends KubeObject>(store: Store<U>, add: (key: string) => void): ChangeHandler<T> =>
  ({ object: { metadata } }) => {
    for (const each of store.all()) if (each.metadata.namespace === metadata.namespace) add(keyOf(each.metadata));
  };

export const controllerOf = ({ metadata }: KubeObject) =>
  (metadata.ownerReferences ?? []).find(({ controller: isController }) => isController === true);

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

/** The names of the claims that a pod asks for. */
export const claimsOf = ({ spec }: Pod): readonly string[] =>
  (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) => (claim === undefined ? [] : [claim.claimName]));

/** A pod of a template, owned by the object that the template is of. */
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
