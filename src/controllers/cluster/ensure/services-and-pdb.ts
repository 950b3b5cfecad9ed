import { type ClusterWorld, memberPodNamed } from '../../../core/cluster/model/cluster.ts';
import { disruptionBudget } from '../../../core/manifests/budget.ts';
import type { Blueprint, Manifest } from '../../../core/manifests/manifest.ts';
import { clientService, peerService } from '../../../core/manifests/services.ts';
import { votersOf } from '../../../core/quorum.ts';
import { isAlreadyExists } from '../../../kube/errors.ts';
import type { KubeObject, Stored } from '../../../kube/object.ts';
import { isOwnedBy } from '../../../kube/owner.ts';
import { podDisruptionBudgets, type Resource, services } from '../../../kube/resource.ts';
import type { Store } from '../../../runtime/store.ts';
import { Failure, unless } from '../../../std/failure.ts';
import type { ControllerContext } from '../../shared/context.ts';
import type { Writer } from '../../shared/writer.ts';

interface EnsureContext {
  readonly caches: ControllerContext['caches'];
  readonly writer: Writer;
  /** Called after a Service was created. */
  readonly onService?: (name: string) => void;
}

interface Kind<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly store: Store<T>;
}

/**
 * Creates missing Services and the PodDisruptionBudget, and corrects changed ones. A failure does not stop the work on
 * the other objects, and does not affect members. Returns the first failure.
 */
export async function ensureServicesAndPdb(
  blueprint: Blueprint,
  world: ClusterWorld,
  context: EnsureContext,
): Promise<Failure | undefined> {
  const onServices = { resource: services, store: context.caches.services };
  const tasks = [
    () => ensure(onServices, peerService(blueprint), context),
    () => ensure(onServices, clientService(blueprint), context),
    () => ensureBudget(blueprint, world, context),
  ];
  let first: Failure | undefined;
  for (const task of tasks) await task().catch((thrown: unknown) => (first ??= Failure.from(thrown)));
  return first;
}

async function ensureBudget(blueprint: Blueprint, world: ClusterWorld, context: EnsureContext): Promise<void> {
  const { membership, memory } = world;
  const members = membership.seen ? membership.value.members : [];
  const voters = votersOf(members).length || memory.voters.length;
  const learners = members.filter(({ role, name }) => role === 'learner' && memberPodNamed(world, name)?.ready).length;
  const store = context.caches.budgets;
  if (store === undefined) return;
  const budgets = { resource: podDisruptionBudgets, store };
  const wanted = disruptionBudget(blueprint, { voters, learners });
  if (wanted !== undefined) return ensure(budgets, wanted, context);
  const { name, namespace, uid } = blueprint.intent;
  const there = budgets.store.get(`${namespace}/${name}`);
  if (there === undefined || !isOwnedBy(there, uid)) return;
  const preconditions = { uid: there.metadata.uid, resourceVersion: there.metadata.resourceVersion };
  await unless('not-found', context.writer.remove(budgets.resource, { namespace, name }, { preconditions }), undefined);
}

async function ensure<T extends KubeObject>(
  { resource, store }: Kind<T>,
  wanted: Manifest,
  { writer, onService }: EnsureContext,
): Promise<void> {
  const { name, namespace, ownerReferences } = wanted.metadata;
  const [owner] = ownerReferences;
  const there = store.get(`${namespace}/${name}`);
  if (there === undefined) {
    await writer.create(resource, wanted as unknown as T).catch((thrown: unknown) => {
      // without the labels of the cluster the cache does not show it
      throw isAlreadyExists(thrown) ? nameConflict(resource, name) : thrown;
    });
    if (wanted.kind === 'Service') onService?.(name);
    return;
  }
  if (isOfPreviousOwner(there, owner))
    throw new Failure('conflict', `${resource.kind} ${name} of a previous cluster with this name is being deleted`);
  if (!isOwnedBy(there, owner?.uid)) throw nameConflict(resource, name);
  const spec = withoutExtraLabels(wanted, there as Selecting);
  if (includes(there, { spec, metadata: { labels: wanted.metadata.labels } })) return;
  const body = { metadata: { uid: there.metadata.uid, labels: wanted.metadata.labels }, spec };
  await writer.patch(resource, { namespace, name }, { type: 'merge', body });
}

const nameConflict = ({ kind }: Pick<Resource<KubeObject>, 'kind'>, name: string): Failure =>
  new Failure('rejected', `${kind} ${name} exists and does not belong to this cluster: rename one of the two`);

type Selecting = { readonly spec?: { readonly selector?: Readonly<Record<string, unknown>> } };

/** Labels that a user added to the selector exclude members, so they are removed by null. */
function withoutExtraLabels({ spec }: Manifest, there: Selecting): Manifest['spec'] {
  const wanted = (spec as NonNullable<Selecting['spec']>).selector ?? {};
  const extra = Object.keys(there.spec?.selector ?? {}).filter((label) => !(label in wanted));
  return { ...spec, selector: { ...Object.fromEntries(extra.map((label) => [label, null])), ...wanted } };
}

/**
 * True if the object belongs to a previous cluster with the same name, and will be deleted by the garbage collector.
 */
const isOfPreviousOwner = (
  { metadata }: Stored<KubeObject>,
  owner: Manifest['metadata']['ownerReferences'][number] | undefined,
) =>
  (metadata.ownerReferences ?? []).some(
    ({ kind, name, uid }) => kind === owner?.kind && name === owner.name && uid !== owner.uid,
  );

/** True if the object has all wanted fields. Fields that the API server added do not count. */
function includes(there: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(there) && there.length === wanted.length && wanted.every((item, i) => includes(there[i], item))
    );
  }
  if (typeof wanted !== 'object' || wanted === null) return there === wanted;
  if (typeof there !== 'object' || there === null) return false;
  return Object.entries(wanted).every(([key, value]) => includes(Reflect.get(there, key), value));
}
