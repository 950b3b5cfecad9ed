import { isDeepStrictEqual } from 'node:util';
import type { ClusterWorld, Safeguard } from '../../core/model/cluster.ts';
import type { ClusterIntent } from '../../core/model/intent.ts';
import { nextMinor } from '../../core/plan/cluster/outdated.ts';
import type { Step } from '../../core/plan/cluster/step.ts';
import type { ClusterDialect, ReadCluster, SafeguardDialect } from '../../dialects/dialect.ts';
import { isAbsentOrUndefined } from '../../kube/errors.ts';
import { type At, keyOf, type Stored } from '../../kube/object.ts';
import { namespaced, type Resource } from '../../kube/resource.ts';
import { Failure, unless } from '../../std/failure.ts';
import type { Deed } from './deed.ts';
import { withStatus } from './publish.ts';
import type { WatchedBackup } from './safeguard-watch.ts';
import type { ClusterObject, Tools } from './sources.ts';

/** A sentence where we may not look. */
type Found = Stored<ClusterObject> | string | undefined;

/**
 * For how long a backup may be in a state. One that has just failed is not made again at once, however much it differs from what
 * was asked for.
 */
const seconds = { untilLookedInto: 10, untilTold: 120, untilTriedAgain: 120, untilOfNoUse: 24 * 3600 } as const;

/** How far the backup is that has to be good before the next minor; nothing where none is wanted now. */
export async function lookAtSafeguard(
  { blueprint, backupBeforeUpgrade: like }: ReadCluster,
  world: ClusterWorld,
  tools: Judging & Pick<Tools, 'client'>,
): Promise<Safeguard | undefined> {
  if (like === undefined) return undefined;
  const version = nextMinor(world);
  const resource = resourceOf(tools.dialect);
  if (resource === undefined || version === undefined) return undefined;
  const { namespace, name: cluster } = blueprint.intent;
  const name = `${cluster}-before-${version}`;
  const [found, another] = await Promise.all(
    [name, like].map((each) => backupAt({ namespace, name: each }, resource, tools).catch(toldIfForbidden)),
  );
  const seen = { name, ...judged(found, { intent: blueprint.intent, version, another }, tools) };
  const isToBeMade = seen.state === 'missing' || seen.state === 'stale';
  return isToBeMade && another === undefined ? { name, state: 'failed', why: unlike(like) } : seen;
}

const unlike = (name: string): string =>
  `spec.backupBeforeUpgrade.like: there is no EtcdBackup ${name} in this namespace: create it, or leave the field out`;

/** Where we may not look, nobody moves on; but all else goes on. */
function toldIfForbidden(thrown: unknown): string {
  const failure = Failure.from(thrown);
  if (failure.kind !== 'forbidden') throw failure;
  return failure.message;
}

type Judging = Pick<Tools, 'dialect' | 'watched'>;

interface Wanted {
  /** The cluster that it is to be of. */
  readonly intent: ClusterIntent;
  readonly version: string;
  /** The one after whose likeness it is made. */
  readonly another: Found;
}

function judged(found: Found, wanted: Wanted, tools: Judging): Omit<Safeguard, 'name'> {
  if (typeof found === 'string') return { state: 'failed', why: found };
  if (found === undefined) return { state: 'missing', why: '' };
  return isOf(wanted.intent, found) ? byAge(found, wanted, tools) : { state: 'failed', why: ofAnother };
}

const ofAnother = 'it is not of this cluster: delete or rename it';

const isOf = ({ uid }: ClusterIntent, { metadata }: Stored<ClusterObject>): boolean =>
  metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;

const stateOf = (
  found: Stored<ClusterObject>,
  { safeguards }: ClusterDialect,
): ReturnType<SafeguardDialect['stateOf']> => safeguards?.stateOf(found) ?? { state: 'under-way', why: '' };

const unseen: WatchedBackup = { seconds: 0, isFresh: true };

/** A complete backup that this operator has not watched is made again once: it may be of an earlier attempt to upgrade. */
function byAge(found: Stored<ClusterObject>, wanted: Wanted, { dialect, watched }: Judging): Omit<Safeguard, 'name'> {
  const { state, why } = stateOf(found, dialect);
  const { seconds: age, isFresh } = watched?.safeguards.see(keyOf(wanted.intent), found.metadata.uid, state) ?? unseen;
  if (!isFresh || age > usefulFor(state, isAsWanted(found, wanted, dialect))) return { state: 'stale', why };
  if (state !== 'blocked') return { state, why };
  return { state: age > seconds.untilTold ? 'failed' : 'under-way', why };
}

/** One that is blocked may yet begin by itself, but not if what it was made after has been corrected since. */
function usefulFor(state: ReturnType<SafeguardDialect['stateOf']>['state'], isSame: boolean): number {
  if (state === 'good' || state === 'under-way') return seconds.untilOfNoUse;
  if (!isSame) return seconds.untilLookedInto;
  return state === 'blocked' ? seconds.untilTold + seconds.untilTriedAgain : seconds.untilTriedAgain;
}

/** Whether it would be made so again. The API server keeps nothing of what is not said. */
function isAsWanted(
  found: Stored<ClusterObject>,
  { intent, version, another }: Wanted,
  dialect: ClusterDialect,
): boolean {
  if (another === undefined || typeof another === 'string') return true; // there is none to tell
  const { namespace, name: cluster } = intent;
  const spec = dialect.safeguards?.specLike(another.spec, { namespace, cluster, version });
  return isDeepStrictEqual(found.spec, JSON.parse(JSON.stringify(spec ?? {})));
}

const resourceOf = ({ group, version, safeguards }: ClusterDialect): Resource<ClusterObject> | undefined =>
  safeguards && namespaced<ClusterObject>({ group, version, plural: safeguards.plural, kind: safeguards.kind });

/** Members were asked just before, and no step that disrupts follows from answers that are older than five seconds. */
const timeoutSeconds = 4;

async function backupAt(
  at: At,
  resource: Resource<ClusterObject>,
  { client }: Pick<Tools, 'client'>,
): Promise<Stored<ClusterObject> | undefined> {
  // Without the kind of backups none can be there, and nobody moves on; but all else goes on.
  const found = await client.get(resource, at, { timeoutSeconds }).catch((thrown: unknown) => {
    if (isAbsentOrUndefined(thrown)) return undefined;
    throw thrown;
  });
  return found && withStatus(found, { dialect: resource });
}

/** In place of one that failed or is of no use any more. It goes with its cluster; what it has stored stays. */
export async function makeBackup({ name, version }: Extract<Step, { kind: 'make-backup' }>, deed: Deed): Promise<void> {
  const { blueprint, tools, writer, signal, observed } = deed;
  const { dialect } = tools;
  const { namespace, name: cluster } = blueprint.intent;
  const resource = resourceOf(dialect);
  const { backupBeforeUpgrade: like = '' } = observed;
  const another = resource && (await backupAt({ namespace, name: like }, resource, tools));
  if (resource === undefined || another === undefined) throw new Failure('conflict', unlike(like)); // it was there when we looked
  await removeFormer(name, resource, deed);
  const { group, version: apiVersion, kind } = resource;
  const scope = Object.entries(another.metadata.annotations ?? {}).filter(([key]) => key === dialect.scopeAnnotation);
  const backup = {
    apiVersion: `${group}/${apiVersion}`,
    kind,
    metadata: { name, namespace, annotations: Object.fromEntries(scope), ownerReferences: [blueprint.owner] },
    spec: dialect.safeguards?.specLike(another.spec, { namespace, cluster, version }),
  };
  await writer.create(resource, backup, { signal });
  tools.watched?.safeguards.made(keyOf(blueprint.intent));
}

/** Only a backup that was made for this cluster makes room for the next. */
async function removeFormer(
  name: string,
  resource: Resource<ClusterObject>,
  { blueprint, tools, writer, signal }: Deed,
): Promise<void> {
  const { namespace, uid: owner } = blueprint.intent;
  const found = await backupAt({ namespace, name }, resource, tools);
  if (found === undefined) return;
  const { uid, resourceVersion, ownerReferences = [] } = found.metadata;
  if (!ownerReferences.some((each) => each.uid === owner))
    throw new Failure('conflict', `${resource.kind} ${name} is not of this cluster`);
  const preconditions = { uid, resourceVersion };
  await unless('not-found', writer.remove(resource, { namespace, name }, { preconditions, signal }), undefined);
}
