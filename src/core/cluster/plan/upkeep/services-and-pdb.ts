import { Failure } from '../../../../std/failure.ts';
import { isOwnedBy } from '../../../../std/owner.ts';
import { disruptionBudget } from '../../../manifests/budget.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import { clientService, peerService } from '../../../manifests/services.ts';
import { votersOf } from '../../../quorum.ts';
import { memberPodNamed } from '../../model/cluster.ts';
import type { LiveObject } from '../../model/live-objects.ts';
import { problem, type UpkeepStep } from './step.ts';
import type { UpkeepRule, UpkeepWorld } from './world.ts';

/** Creates missing Services and corrects changed ones. */
export const keepServices: UpkeepRule = ({ blueprint, live, memberPods }) => {
  const pods = memberPods.filter(({ phase }) => phase !== 'gone');
  const selectsAll = pods.length > 0 && pods.every(({ serves }) => serves !== true);
  return [peerService(blueprint), clientService(blueprint, { selectsAll })].flatMap((wanted) =>
    keep(wanted, live.services),
  );
};

/** Creates or corrects the PodDisruptionBudget. A cluster of one has none: it would block every drain of its node. */
export const keepBudget: UpkeepRule = (world) => {
  const { blueprint, live, intent } = world;
  if (live.budgets === undefined) return [];
  const wanted = disruptionBudget(blueprint, countsIn(world));
  if (wanted !== undefined) return keep(wanted, live.budgets);
  return live.budgets
    .filter((there) => isOwnedBy(there, intent.uid))
    .map(({ metadata: { name, uid, resourceVersion } }) => ({
      kind: 'delete-budget',
      ...{ name, uid, resourceVersion },
      why: `PodDisruptionBudget ${name} of a cluster of one would block every drain of its node`,
    }));
};

function countsIn(world: UpkeepWorld): Parameters<typeof disruptionBudget>[1] {
  const { membership, memory } = world;
  const members = membership.seen ? membership.value.members : [];
  const voters = votersOf(members).length || memory.voters.length;
  const learners = members.filter(({ role, name }) => role === 'learner' && memberPodNamed(world, name)?.ready).length;
  return { voters, learners };
}

function keep(wanted: Manifest, live: readonly LiveObject[]): readonly UpkeepStep[] {
  const { kind, metadata } = wanted;
  const { name, ownerReferences } = metadata;
  const [owner] = ownerReferences;
  const there = live.find((each) => each.metadata.name === name);
  if (there === undefined) return [{ kind: 'create-object', object: wanted, why: `${kind} ${name} does not exist` }];
  if (isOfPreviousOwner(there, owner))
    return [
      problem(
        'services',
        new Failure('conflict', `${kind} ${name} of a previous cluster with this name is being deleted`),
      ),
    ];
  if (!isOwnedBy(there, owner?.uid)) return [problem('services', nameConflict(kind, name))];
  const spec = withoutExtraLabels(wanted, there as Selecting);
  if (includes(there, { spec, metadata: { labels: metadata.labels } })) return [];
  const correction = { of: kind as 'Service', name, uid: there.metadata.uid, labels: metadata.labels, spec };
  return [{ kind: 'correct-object', ...correction, why: `${kind} ${name} differs from the spec` }];
}

export const nameConflict = (kind: string, name: string): Failure =>
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
  { metadata }: LiveObject,
  owner: Manifest['metadata']['ownerReferences'][number] | undefined,
): boolean =>
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
