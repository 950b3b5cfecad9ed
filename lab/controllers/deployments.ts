import { isDeepStrictEqual } from 'node:util';
import { isAlreadyExists } from '../../src/kube/errors.ts';
import type { KubeObject, Stored } from '../../src/kube/object.ts';
import type { Runnable } from '../../src/runtime/manager.ts';
import { done, type Outcome } from '../../src/runtime/outcome.ts';
import { unless } from '../../src/std/failure.ts';
import { ownerIndex } from '../caches.ts';
import { type Deployment, deployments, type ReplicaSet, replicaSets } from '../kinds.ts';
import { formatTime } from '../kubelet/pod/status.ts';
import { type ControllerContext, controller, ownerKey, ownerReference, ownKey } from './controller.ts';
import {
  deploymentStatus,
  hashLabel,
  nextScales,
  revisionAnnotation,
  revisionFor,
  type Sets,
  templateHash,
} from './rollout.ts';

/** Keeps a ReplicaSet for each template of a Deployment, and moves pods from the old ones to the newest. */
export function deploymentController(context: ControllerContext): Runnable {
  const { stores } = context;
  return controller(context, {
    watch: (add) => {
      stores.deployments.onChange(ownKey(add));
      stores.replicaSets.onChange(ownerKey('Deployment', add));
    },
    reconcile: async (key) => {
      const deployment = stores.deployments.get(key);
      if (deployment === undefined || deployment.metadata.deletionTimestamp !== undefined) return done;
      return await reconcile(context, deployment);
    },
  });
}

async function reconcile(context: ControllerContext, deployment: Stored<Deployment>): Promise<Outcome> {
  const sets = setsOf(context, deployment);
  const scales = nextScales(deployment, sets);
  const isPaused = deployment.spec?.paused === true;
  if (!isPaused) {
    await Promise.all(sets.old.map((set, index) => scale(context, set, scales.old[index] ?? 0)));
    if (sets.current === undefined) await create(context, deployment, { replicas: scales.current, sets });
    else await scale(context, sets.current, scales.current);
    await annotateRevision(context, [deployment, sets.current], revisionFor(sets));
  }
  await publish(context, deployment, sets);
  return done;
}

function setsOf({ stores }: ControllerContext, deployment: Stored<Deployment>): Sets {
  const hash = templateHash(deployment);
  const own = stores.replicaSets.by(ownerIndex, deployment.metadata.namespace, deployment.metadata.uid);
  const isCurrent = (set: ReplicaSet): boolean => set.metadata.labels?.[hashLabel] === hash;
  return { current: own.find(isCurrent), old: own.filter((set) => !isCurrent(set)) };
}

async function scale({ client }: ControllerContext, set: Stored<ReplicaSet>, replicas: number): Promise<void> {
  if (set.spec?.replicas === replicas) return;
  const patch = { type: 'merge', body: { spec: { replicas } } } as const;
  await unless('not-found', client.patch(replicaSets, set.metadata, patch), undefined);
}

interface Creation {
  readonly replicas: number;
  readonly sets: Sets;
}

async function create(
  context: ControllerContext,
  deployment: Stored<Deployment>,
  { replicas, sets }: Creation,
): Promise<void> {
  const { namespace = '', name } = deployment.metadata;
  const hash = templateHash(deployment);
  const { spec } = deployment;
  const labels = { ...spec?.template.metadata?.labels, [hashLabel]: hash };
  const set: ReplicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels,
      annotations: { [revisionAnnotation]: revisionFor(sets) },
      ownerReferences: [ownerReference(deployment)],
    },
    spec: {
      replicas,
      selector: { matchLabels: { ...spec?.selector.matchLabels, [hashLabel]: hash } },
      template: { ...spec?.template, metadata: { ...spec?.template.metadata, labels } },
    },
  };
  await context.client.create(replicaSets, set).catch((thrown: unknown) => {
    if (!isAlreadyExists(thrown)) throw thrown;
  });
  const message = `Scaled up replica set ${set.metadata.name} from 0 to ${replicas}`;
  context.recorder.record(deployment, { type: 'Normal', reason: 'ScalingReplicaSet', message });
}

/** Writes the revision annotation of a Deployment and its current ReplicaSet. */
async function annotateRevision(
  { client }: ControllerContext,
  [deployment, set]: readonly [Stored<Deployment>, Stored<ReplicaSet> | undefined],
  revision: string,
): Promise<void> {
  const isOutdated = (object: KubeObject | undefined): object is KubeObject =>
    object !== undefined && object.metadata.annotations?.[revisionAnnotation] !== revision;
  const patch = { type: 'merge', body: { metadata: { annotations: { [revisionAnnotation]: revision } } } } as const;
  if (isOutdated(set)) await unless('not-found', client.patch(replicaSets, set.metadata, patch), undefined);
  if (isOutdated(deployment))
    await unless('not-found', client.patch(deployments, deployment.metadata, patch), undefined);
}

async function publish(
  { client, clock }: ControllerContext,
  deployment: Stored<Deployment>,
  sets: Sets,
): Promise<void> {
  const status = deploymentStatus(deployment, sets, formatTime(clock.now()));
  const zero = { replicas: 0, updatedReplicas: 0, readyReplicas: 0, availableReplicas: 0, unavailableReplicas: 0 };
  if (isDeepStrictEqual({ ...zero, ...deployment.status, ...status }, { ...zero, ...deployment.status })) return;
  const patch = { type: 'merge', body: { status }, subresource: 'status' } as const;
  await unless('not-found', client.patch(deployments, deployment.metadata, patch), undefined);
}
