import { disruptionBudget } from '../../core/desired/budget.ts';
import type { Blueprint, Manifest } from '../../core/desired/manifest.ts';
import { clientService, peerService } from '../../core/desired/services.ts';
import type { ClusterWorld } from '../../core/model/cluster.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { KubeObject, Stored } from '../../kube/object.ts';
import { podDisruptionBudgets, type Resource, services } from '../../kube/resource.ts';
import type { Store } from '../../runtime/store.ts';
import { Failure, unless } from '../../std/failure.ts';
import type { Tools } from './sources.ts';
import type { Writer } from './writer.ts';

interface Keeping {
  readonly caches: Tools['caches'];
  readonly writer: Writer;
}

interface Shelf<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly store: Store<T>;
  /** Whether there is a cluster that must not be left alone because of what stands in the way of a service. */
  readonly hasFormed: boolean;
}

/** Services and budget: made when they are missing, put right when they were changed. None of it can disturb a member. */
export async function keepAccessories(blueprint: Blueprint, world: ClusterWorld, tools: Keeping): Promise<void> {
  const hasFormed = world.memory.clusterId !== undefined;
  const onServices = { resource: services, store: tools.caches.services, hasFormed };
  await keep(onServices, peerService(blueprint), tools);
  await keep(onServices, clientService(blueprint), tools);
  await keepBudget(blueprint, world, tools);
}

async function keepBudget(blueprint: Blueprint, { membership, memory }: ClusterWorld, tools: Keeping): Promise<void> {
  const members = membership.seen ? membership.value.members : [];
  const voters = members.filter(({ role }) => role === 'voter').length || memory.voters.length;
  const store = tools.caches.budgets;
  if (store === undefined) return;
  const shelf = { resource: podDisruptionBudgets, store, hasFormed: memory.clusterId !== undefined };
  const wanted = disruptionBudget(blueprint, voters);
  if (wanted !== undefined) return keep(shelf, wanted, tools);
  const { name, namespace, uid } = blueprint.intent;
  const there = shelf.store.get(`${namespace}/${name}`);
  if (there === undefined || !isOwnedBy(there, uid)) return;
  const preconditions = { uid: there.metadata.uid };
  await unless('not-found', tools.writer.remove(shelf.resource, { namespace, name }, { preconditions }), undefined);
}

async function keep<T extends KubeObject>(
  { resource, store, hasFormed }: Shelf<T>,
  wanted: Manifest,
  { writer }: Keeping,
): Promise<void> {
  const { name, namespace, ownerReferences } = wanted.metadata;
  const there = store.get(`${namespace}/${name}`);
  if (there === undefined) {
    await writer.create(resource, wanted as unknown as T).catch((thrown: unknown) => {
      if (!isAlreadyExists(thrown)) throw thrown;
      if (!hasFormed) throw strangers(resource, name); // it has not our labels, so that we never get to see it
    });
    return;
  }
  if (!isOwnedBy(there, ownerReferences[0]?.uid)) throw strangers(resource, name);
  const spec = withoutMore(wanted, there as Selecting);
  if (includes(there, { spec, metadata: { labels: wanted.metadata.labels } })) return;
  const body = { metadata: { uid: there.metadata.uid, labels: wanted.metadata.labels }, spec };
  await writer.patch(resource, { namespace, name }, { type: 'merge', body });
}

const strangers = ({ kind }: Pick<Resource<KubeObject>, 'kind'>, name: string): Failure =>
  new Failure('rejected', `${kind} ${name} exists and does not belong to this cluster: rename one of the two`);

type Selecting = { readonly spec?: { readonly selector?: Readonly<Record<string, unknown>> } };

/** What somebody has added to a selector leaves fewer behind it, or nobody: null takes it away. */
function withoutMore({ spec }: Manifest, there: Selecting): Manifest['spec'] {
  const wanted = (spec as NonNullable<Selecting['spec']>).selector ?? {};
  const more = Object.keys(there.spec?.selector ?? {}).filter((label) => !(label in wanted));
  return { ...spec, selector: { ...Object.fromEntries(more.map((label) => [label, null])), ...wanted } };
}

const isOwnedBy = ({ metadata }: Stored<KubeObject>, uid: string | undefined): boolean =>
  (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);

/** Whether all that is wanted is there; what the server added beside it does not matter. */
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
