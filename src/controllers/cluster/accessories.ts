import { disruptionBudget } from '../../core/desired/budget.ts';
import type { Blueprint, Manifest } from '../../core/desired/manifest.ts';
import { clientService, peerService } from '../../core/desired/services.ts';
import { type ClusterWorld, carrierNamed } from '../../core/model/cluster.ts';
import { votersOf } from '../../core/quorum.ts';
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
  /** Told of a Service that was not there before. */
  readonly onService?: (name: string) => void;
}

interface Shelf<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly store: Store<T>;
}

/**
 * Services and budget: made when they are missing, put right when they were changed. None of it can disturb a member, and
 * what stands in the way of one is no reason to leave the others. Gives back what that is.
 */
export async function keepAccessories(
  blueprint: Blueprint,
  world: ClusterWorld,
  tools: Keeping,
): Promise<Failure | undefined> {
  const onServices = { resource: services, store: tools.caches.services };
  const inTurn = [
    () => keep(onServices, peerService(blueprint), tools),
    () => keep(onServices, clientService(blueprint), tools),
    () => keepBudget(blueprint, world, tools),
  ];
  let first: Failure | undefined;
  for (const kept of inTurn) await kept().catch((thrown: unknown) => (first ??= Failure.from(thrown)));
  return first;
}

async function keepBudget(blueprint: Blueprint, world: ClusterWorld, tools: Keeping): Promise<void> {
  const { membership, memory } = world;
  const members = membership.seen ? membership.value.members : [];
  const voters = votersOf(members).length || memory.voters.length;
  const learners = members.filter(({ role, name }) => role === 'learner' && carrierNamed(world, name)?.ready).length;
  const store = tools.caches.budgets;
  if (store === undefined) return;
  const shelf = { resource: podDisruptionBudgets, store };
  const wanted = disruptionBudget(blueprint, { voters, learners });
  if (wanted !== undefined) return keep(shelf, wanted, tools);
  const { name, namespace, uid } = blueprint.intent;
  const there = shelf.store.get(`${namespace}/${name}`);
  if (there === undefined || !isOwnedBy(there, uid)) return;
  const preconditions = { uid: there.metadata.uid, resourceVersion: there.metadata.resourceVersion };
  await unless('not-found', tools.writer.remove(shelf.resource, { namespace, name }, { preconditions }), undefined);
}

async function keep<T extends KubeObject>(
  { resource, store }: Shelf<T>,
  wanted: Manifest,
  { writer, onService }: Keeping,
): Promise<void> {
  const { name, namespace, ownerReferences } = wanted.metadata;
  const [owner] = ownerReferences;
  const there = store.get(`${namespace}/${name}`);
  if (there === undefined) {
    await writer.create(resource, wanted as unknown as T).catch((thrown: unknown) => {
      throw isAlreadyExists(thrown) ? strangers(resource, name) : thrown; // it has not our labels: we never get to see it
    });
    if (wanted.kind === 'Service') onService?.(name);
    return;
  }
  if (isFormers(there, owner)) throw new Failure('conflict', `${resource.kind} ${name} goes with a former cluster`);
  if (!isOwnedBy(there, owner?.uid)) throw strangers(resource, name);
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

/** It belongs to a cluster of the same name that was deleted before, and goes by itself. */
const isFormers = (
  { metadata }: Stored<KubeObject>,
  owner: Manifest['metadata']['ownerReferences'][number] | undefined,
) =>
  (metadata.ownerReferences ?? []).some(
    ({ kind, name, uid }) => kind === owner?.kind && name === owner.name && uid !== owner.uid,
  );

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
