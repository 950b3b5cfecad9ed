import { isDeepStrictEqual } from 'node:util';
import type { ClusterDialect, PreUpgradeBackupDialect, ReadCluster } from '../../../../apis/common/dialect.ts';
import type { KnownWorld, PreUpgradeBackup } from '../../../../core/cluster/model/cluster.ts';
import type { ClusterIntent } from '../../../../core/cluster/model/intent.ts';
import { nextMinor } from '../../../../core/cluster/plan/roll/outdated.ts';
import { isAbsentOrUndefined } from '../../../../kube/errors.ts';
import { keyOf, type NamespacedName, type Stored } from '../../../../kube/object.ts';
import { namespaced, type Resource } from '../../../../kube/resource.ts';
import { Failure } from '../../../../std/failure.ts';
import { isOwnedBy } from '../../../../std/owner.ts';
import type { ClusterObject, ControllerContext } from '../../../shared/context.ts';
import { withStatus } from '../../../shared/status-writer.ts';
import type { WatchedBackup } from './pre-upgrade-backup-watch.ts';

/** A string is the message of a forbidden read. */
type Found = Stored<ClusterObject> | string | undefined;

/** How long a backup may be in a state. A failed backup is not replaced at once, even if its template has changed. */
const seconds = { untilReplaced: 10, untilFailed: 120, untilRetried: 120, untilExpired: 24 * 3600 } as const;

/** The state of the backup that is required before the next minor version; undefined if none is required now. */
export async function observePreUpgradeBackup(
  { blueprint, backupBeforeUpgrade: like }: ReadCluster,
  world: KnownWorld,
  context: JudgeContext & Pick<ControllerContext, 'client'>,
): Promise<PreUpgradeBackup | undefined> {
  if (like === undefined) return undefined;
  const version = nextMinor(world);
  const resource = resourceOf(context.dialect);
  if (resource === undefined || version === undefined) return undefined;
  const { namespace, name: cluster } = blueprint.intent;
  const name = `${cluster}-before-${version}`;
  const [found, template] = await Promise.all(
    [name, like].map((each) => backupAt({ namespace, name: each }, resource, context).catch(messageIfForbidden)),
  );
  const seen = { name, ...judged(found, { intent: blueprint.intent, version, template }, context) };
  const isToBeMade = seen.state === 'missing' || seen.state === 'stale';
  return isToBeMade && template === undefined ? { name, state: 'failed', why: missingTemplate(like) } : seen;
}

export const missingTemplate = (name: string): string =>
  `spec.backupBeforeUpgrade.like: there is no EtcdBackup ${name} in this namespace: create it, or leave the field out`;

/** A missing right blocks the upgrade only. */
function messageIfForbidden(thrown: unknown): string {
  const failure = Failure.from(thrown);
  if (failure.kind !== 'forbidden') throw failure;
  return failure.message;
}

type JudgeContext = Pick<ControllerContext, 'dialect' | 'watched'>;

interface Wanted {
  /** The cluster of the backup. */
  readonly intent: ClusterIntent;
  readonly version: string;
  /** The EtcdBackup that spec.backupBeforeUpgrade.like names. */
  readonly template: Found;
}

function judged(found: Found, wanted: Wanted, context: JudgeContext): Omit<PreUpgradeBackup, 'name'> {
  if (typeof found === 'string') return { state: 'failed', why: found };
  if (found === undefined) return { state: 'missing', why: '' };
  return isOwnedBy(found, wanted.intent.uid) ? byAge(found, wanted, context) : { state: 'failed', why: notOurs };
}

const notOurs = 'EtcdBackup does not belong to this cluster: delete or rename it';

const stateOf = (
  found: Stored<ClusterObject>,
  { preUpgradeBackups }: ClusterDialect,
): ReturnType<PreUpgradeBackupDialect['stateOf']> =>
  preUpgradeBackups?.stateOf(found) ?? { state: 'under-way', why: '' };

const unwatched: WatchedBackup = { seconds: 0, isFresh: true };

/** A complete backup that this operator has not watched is replaced once: it may be from an earlier upgrade attempt. */
function byAge(
  found: Stored<ClusterObject>,
  wanted: Wanted,
  { dialect, watched }: JudgeContext,
): Omit<PreUpgradeBackup, 'name'> {
  const { state, why } = stateOf(found, dialect);
  const { seconds: age, isFresh } =
    watched?.preUpgradeBackups.see(keyOf(wanted.intent), found.metadata.uid, state) ?? unwatched;
  if (!isFresh || age > usefulFor(state, isAsWanted(found, wanted, dialect))) return { state: 'stale', why };
  if (state !== 'blocked') return { state, why };
  return { state: age > seconds.untilFailed ? 'failed' : 'under-way', why };
}

/** A blocked backup may still start, unless its template has been corrected since. */
function usefulFor(state: ReturnType<PreUpgradeBackupDialect['stateOf']>['state'], isSame: boolean): number {
  if (state === 'good' || state === 'under-way') return seconds.untilExpired;
  if (!isSame) return seconds.untilReplaced;
  return state === 'blocked' ? seconds.untilFailed + seconds.untilRetried : seconds.untilRetried;
}

/** True if the template still gives the same spec. JSON drops undefined fields, as the API server does. */
function isAsWanted(
  found: Stored<ClusterObject>,
  { intent, version, template }: Wanted,
  dialect: ClusterDialect,
): boolean {
  if (template === undefined || typeof template === 'string') return true; // there is no template to compare with
  const { namespace, name: cluster } = intent;
  const spec = dialect.preUpgradeBackups?.specFrom(template.spec, { namespace, cluster, version });
  return isDeepStrictEqual(found.spec, JSON.parse(JSON.stringify(spec ?? {})));
}

/** The resource of pre-upgrade backups; undefined in an API without them. */
export const resourceOf = ({
  group,
  version,
  preUpgradeBackups,
}: ClusterDialect): Resource<ClusterObject> | undefined =>
  preUpgradeBackups &&
  namespaced<ClusterObject>({ group, version, plural: preUpgradeBackups.plural, kind: preUpgradeBackups.kind });

/** Members have answered before this read, and a disruptive step needs answers that are at most five seconds old. */
const timeoutSeconds = 4;

export async function backupAt(
  at: NamespacedName,
  resource: Resource<ClusterObject>,
  { client }: Pick<ControllerContext, 'client'>,
): Promise<Stored<ClusterObject> | undefined> {
  // Without the CRD of backups there is no backup, which blocks the upgrade only.
  const found = await client.get(resource, at, { timeoutSeconds }).catch((thrown: unknown) => {
    if (isAbsentOrUndefined(thrown)) return undefined;
    throw thrown;
  });
  return found && withStatus(found, { dialect: resource });
}
