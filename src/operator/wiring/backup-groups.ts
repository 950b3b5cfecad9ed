import type { Registry } from 'prom-client';
import type { ClusterDialect, LegacyLockObject } from '../../apis/common/dialect.ts';
import { withAccountRestrictions } from '../../apis/common/restrictions.ts';
import type { ClusterObject, ControllerContext } from '../../controllers/shared/context.ts';
import type { KubeClient } from '../../kube/client.ts';
import { namespaced, type Resource } from '../../kube/resource.ts';
import { systemClock as clock } from '../../runtime/clock.ts';
import { type Leadership, type LeaseOptions, lead } from '../../runtime/lease.ts';
import { runTogether } from '../../runtime/manager.ts';
import type { Store } from '../../runtime/store.ts';
import { waitForLegacyLocks } from '../legacy-lock.ts';
import { type Place, type Survey, waitUntilServed } from '../places.ts';
import type { Settings } from '../settings.ts';
import { type BackupMetrics, backupMetrics, restoreMetrics } from '../telemetry/backup-metrics.ts';
import type { Log } from '../telemetry/log.ts';
import { agentImage } from './agent-image.ts';
import { type BackupApi, backupApis } from './backup-kinds.ts';
import type { BackupParts } from './backups.ts';
import { waitForKind, waitForKindInAny } from './kind-served.ts';
import { restoreKinds } from './restore-kinds.ts';
import type { RestoreParts } from './restores.ts';
import type { Served } from './served.ts';

/** The context of a group of controllers with its own Lease. */
export interface GroupContext extends Pick<BackupParts, 'isOurs' | 'identity' | 'onFailure'>, Survey {
  readonly client: KubeClient;
  /** The namespace of the operator. */
  readonly namespace: string;
  readonly settings: Settings;
  readonly log: Log;
  readonly metrics: Registry;
  /** Called first when leadership is lost. */
  readonly onLost?: LeaseOptions['onLost'];
  readonly dialerTo: ControllerContext['dialerTo'];
}

/** Runs the backup controllers of each API: waits for the CRDs and the lease first. */
export async function runBackupControllers(context: GroupContext, stop: AbortSignal): Promise<void> {
  const metrics = backupMetrics(context.metrics, context.log);
  const each = context.dialects.map(({ name, dialect }) => {
    const api = { ...backupApis[name], clusters: dialect };
    return (signal: AbortSignal) => runBackupControllersOf(api, { ...context, ...metrics }, signal);
  });
  await runTogether(each, stop);
}

type Api = BackupApi & { readonly clusters: ClusterDialect };

function runBackupControllersOf(api: Api, context: GroupContext & BackupMetrics, stop: AbortSignal): Promise<void> {
  const { schedules, clusters } = api;
  const dialect = withAccountRestrictions(context.settings.restrictions, api.backups);
  const isOurs = clusters.scopeAnnotation === undefined ? () => true : context.isOurs;
  const work: Group['work'] = async ({ namespace: scope }, leads, signal) => {
    const image = await agentImage('backup', { ...context, clock }, signal);
    if (image === undefined) return;
    const operators = { ...context.settings.store, namespace: context.namespace };
    const onCache = (declared: Store<ClusterObject>): void => context.onCache(dialect, declared);
    const { backupController } = await import('./backups.ts');
    const { scheduleController } = await import('./schedules.ts');
    const parts = { ...context, scope, isOurs, leads, image, dialect, clusters, operators, onCache };
    const ofSchedules = schedules && scheduleController({ ...parts, dialect: schedules, backups: dialect });
    await runTogether([backupController(parts), ...(ofSchedules === undefined ? [] : [ofSchedules])], signal);
  };
  const group = { ...locksOf(api, clusters), api: clusters.group, kind: namespaced<ClusterObject>(dialect), work };
  return runWithLease(context, group, stop);
}

/** Runs the restore controllers of each API. */
export async function runRestoreControllers(context: GroupContext, stop: AbortSignal): Promise<void> {
  const onOutcome = restoreMetrics(context.metrics, context.log);
  const kinds = context.dialects.filter(({ dialect }) => dialect.hasRestores);
  await runTogether(
    kinds.map((served) => (signal) => runRestoreControllersOf(served, { ...context, onOutcome }, signal)),
    stop,
  );
}

async function runRestoreControllersOf(
  served: Served,
  context: GroupContext & Pick<RestoreParts, 'onOutcome'>,
  stop: AbortSignal,
): Promise<void> {
  const api = restoreKinds[served.name];
  const isOurs = served.dialect.scopeAnnotation === undefined ? () => true : context.isOurs;
  const work: Group['work'] = async ({ namespace: scope, dialects, lacks }, leads, signal) => {
    const image = await agentImage('restore', { ...context, clock }, signal);
    if (image === undefined) return;
    const { restoreController } = await import('./restores.ts');
    const operators = { ...context.settings.store, namespace: context.namespace };
    const { restrictions } = context.settings;
    const mayWriteSecrets = !lacks.has('secrets');
    const parts = { ...context, scope, dialects, image, isOurs, leads, operators, mayWriteSecrets, restrictions };
    await restoreController(served, parts)(signal);
  };
  const group = { ...locksOf(api, served.dialect), api: served.dialect.group, kind: api.resource, work };
  await runWithLease(context, group, stop);
}

interface Locks {
  readonly lease: string;
  /** The lock of the original, if it has one. */
  readonly legacyLock: LegacyLockObject | undefined;
}

/** The Lease, and the lock of the original. A separate original operator has a lock with the name of our Lease. */
function locksOf(
  { lease, hadOwnLock }: Pick<BackupApi, 'lease' | 'hadOwnLock'>,
  { legacyLock }: ClusterDialect,
): Locks {
  return { lease, legacyLock: legacyLock && hadOwnLock ? { ...legacyLock, name: lease } : legacyLock };
}

interface Group extends Locks {
  /** The API group of the kind. */
  readonly api: string;
  readonly kind: Resource<ClusterObject>;
  /** `leads`: true while this replica holds the Lease of the group; undefined without leader election. */
  readonly work: (place: Place, leads: Leadership['holds'] | undefined, signal: AbortSignal) => Promise<void>;
}

async function runWithLease(context: GroupContext, group: Group, stop: AbortSignal): Promise<void> {
  const { client, namespace, identity, log, lacks, onFailure, settings } = context;
  const { kind, lease: name, legacyLock } = group;
  const served = context.places.filter(({ dialects }) => dialects.some(({ dialect }) => dialect.group === group.api));
  if (!(await waitForKindInAny(kind, { ...context, places: served, clock }, stop))) return;
  const run = async (signal: AbortSignal, leads?: Leadership['holds']): Promise<void> => {
    const waiting = { client, clock, log, lease: settings.lease };
    await waitForLegacyLocks({ namespace, lacks, locks: [legacyLock] }, waiting, signal);
    if (signal.aborted) return;
    log.info({ identity, kind: kind.kind }, 'starting controller');
    const inPlace = async (found: Place, ends: AbortSignal): Promise<void> => {
      const place = await waitUntilServed(found, ends);
      if (place === undefined) return;
      if (place.namespace !== namespace) await waitForLegacyLocks({ ...place, locks: [legacyLock] }, waiting, ends);
      const isServed = served.length === 1 || waitForKind(kind, { client, scope: place.namespace, clock, log }, ends);
      if (await isServed) await group.work(place, leads, ends);
    };
    await runTogether(
      served.map((place) => (ends) => inPlace(place, ends)),
      signal,
    );
  };
  if (lacks.has('leases') || settings.lease === undefined) return run(stop);
  const lease = { client, namespace, name, identity, clock, onFailure, onLost: context.onLost };
  return lead(lease, ({ lost, holds }) => run(AbortSignal.any([stop, lost]), holds), stop);
}
