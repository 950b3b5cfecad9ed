import type { Registry } from 'prom-client';
import type { ClusterObject, Tools } from '../controllers/cluster/sources.ts';
import type { ClusterDialect, OldLockPlace } from '../dialects/dialect.ts';
import { accountsRestrictedTo } from '../dialects/restrictions.ts';
import type { KubeClient } from '../kube/client.ts';
import { namespaced, type Resource } from '../kube/resource.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { type Leadership, type LeaseOptions, lead } from '../runtime/lease.ts';
import { runTogether } from '../runtime/manager.ts';
import type { Store } from '../runtime/store.ts';
import { agentImage } from './agent-image.ts';
import { type BackupApi, backupApis } from './backup-kinds.ts';
import { type BackupMetrics, backupMetrics, restoreMetrics } from './backup-metrics.ts';
import type { BackupParts } from './backups.ts';
import { whenKindIsSomewhere, whenKindIsThere } from './kind-is-there.ts';
import type { Log } from './log.ts';
import { outlastOldLocks } from './old-lock.ts';
import { type Place, type Survey, whenServed } from './places.ts';
import { restoreKinds } from './restore-kinds.ts';
import type { RestoreParts } from './restores.ts';
import type { Served } from './served.ts';
import type { Settings } from './settings.ts';

export interface BackupTurn extends Pick<BackupParts, 'isOurs' | 'identity' | 'onTrouble'>, Survey {
  readonly client: KubeClient;
  /** Where the operator itself is. */
  readonly namespace: string;
  readonly settings: Settings;
  readonly log: Log;
  readonly metrics: Registry;
  /** Called when leadership is lost, before anything else hears of it. */
  readonly onLost?: LeaseOptions['onLost'];
  readonly wayTo: Tools['wayTo'];
}

/** Waits until there can be backups, then for its turn, and looks after them for as long as that lasts: of each API by itself. */
export async function lookAfterBackups(turn: BackupTurn, stop: AbortSignal): Promise<void> {
  const metrics = backupMetrics(turn.metrics, turn.log);
  const each = turn.dialects.map(({ name, dialect }) => {
    const api = { ...backupApis[name], clusters: dialect };
    return (signal: AbortSignal) => lookAfterBackupsOf(api, { ...turn, ...metrics }, signal);
  });
  await runTogether(each, stop);
}

type Api = BackupApi & { readonly clusters: ClusterDialect };

function lookAfterBackupsOf(api: Api, turn: BackupTurn & BackupMetrics, stop: AbortSignal): Promise<void> {
  const { schedules, clusters } = api;
  const dialect = accountsRestrictedTo(turn.settings.restrictions, api.backups);
  const isOurs = clusters.scopeAnnotation === undefined ? () => true : turn.isOurs;
  const work: Group['work'] = async ({ namespace: scope }, leads, signal) => {
    const image = await agentImage('backup', { ...turn, clock }, signal);
    if (image === undefined) return;
    const operators = { ...turn.settings.store, namespace: turn.namespace };
    const onCache = (declared: Store<ClusterObject>): void => turn.onCache(dialect, declared);
    const { backupController } = await import('./backups.ts');
    const { scheduleController } = await import('./schedules.ts');
    const parts = { ...turn, scope, isOurs, leads, image, dialect, clusters, operators, onCache };
    const ofSchedules = schedules && scheduleController({ ...parts, dialect: schedules, backups: dialect });
    await runTogether([backupController(parts), ...(ofSchedules === undefined ? [] : [ofSchedules])], signal);
  };
  const group = { ...locksOf(api, clusters), api: clusters.group, kind: namespaced<ClusterObject>(dialect), work };
  return takeTurn(turn, group, stop);
}

/** The same for restores, of each API by itself. */
export async function lookAfterRestores(turn: BackupTurn, stop: AbortSignal): Promise<void> {
  const onOutcome = restoreMetrics(turn.metrics, turn.log);
  const kinds = turn.dialects.filter(({ dialect }) => dialect.hasRestores);
  await runTogether(
    kinds.map((served) => (signal) => lookAfterRestoresOf(served, { ...turn, onOutcome }, signal)),
    stop,
  );
}

async function lookAfterRestoresOf(
  served: Served,
  turn: BackupTurn & Pick<RestoreParts, 'onOutcome'>,
  stop: AbortSignal,
): Promise<void> {
  const api = restoreKinds[served.name];
  const isOurs = served.dialect.scopeAnnotation === undefined ? () => true : turn.isOurs;
  const work: Group['work'] = async ({ namespace: scope, dialects, lacks }, leads, signal) => {
    const image = await agentImage('restore', { ...turn, clock }, signal);
    if (image === undefined) return;
    const { restoreController } = await import('./restores.ts');
    const operators = { ...turn.settings.store, namespace: turn.namespace };
    const { restrictions } = turn.settings;
    const keepsSecrets = !lacks.has('secrets');
    const parts = { ...turn, scope, dialects, image, isOurs, leads, operators, keepsSecrets, restrictions };
    await restoreController(served, parts)(signal);
  };
  const group = { ...locksOf(api, served.dialect), api: served.dialect.group, kind: api.resource, work };
  await takeTurn(turn, group, stop);
}

interface Locks {
  readonly lease: string;
  /** Of the original, if that had any. */
  readonly oldLock: OldLockPlace | undefined;
}

/** Where the original had an operator of its own for these, that had a lock of its own: ours has the same name. */
function locksOf({ lease, hadOwnLock }: Pick<BackupApi, 'lease' | 'hadOwnLock'>, { oldLock }: ClusterDialect): Locks {
  return { lease, oldLock: oldLock && hadOwnLock ? { ...oldLock, name: lease } : oldLock };
}

interface Group extends Locks {
  /** The API group of the kind. */
  readonly api: string;
  readonly kind: Resource<ClusterObject>;
  /** `leads`: whether the lease of this group is still ours; not there where there is none. */
  readonly work: (place: Place, leads: Leadership['holds'] | undefined, signal: AbortSignal) => Promise<void>;
}

async function takeTurn(turn: BackupTurn, group: Group, stop: AbortSignal): Promise<void> {
  const { client, namespace, identity, log, lacks, onTrouble, settings } = turn;
  const { kind, lease: name, oldLock } = group;
  const served = turn.places.filter(({ dialects }) => dialects.some(({ dialect }) => dialect.group === group.api));
  if (!(await whenKindIsSomewhere(kind, { ...turn, places: served, clock }, stop))) return;
  const begin = async (signal: AbortSignal, leads?: Leadership['holds']): Promise<void> => {
    const waiting = { client, clock, log, lease: settings.lease };
    await outlastOldLocks({ namespace, lacks, locks: [oldLock] }, waiting, signal);
    if (signal.aborted) return;
    log.info({ identity, kind: kind.kind }, 'looking after them');
    const inPlace = async (found: Place, ends: AbortSignal): Promise<void> => {
      const place = await whenServed(found, ends);
      if (place === undefined) return;
      if (place.namespace !== namespace) await outlastOldLocks({ ...place, locks: [oldLock] }, waiting, ends);
      const isThere =
        served.length === 1 || whenKindIsThere(kind, { client, scope: place.namespace, clock, log }, ends);
      if (await isThere) await group.work(place, leads, ends);
    };
    await runTogether(
      served.map((place) => (ends) => inPlace(place, ends)),
      signal,
    );
  };
  if (lacks.has('leases') || settings.lease === undefined) return begin(stop);
  const lease = { client, namespace, name, identity, clock, onTrouble, onLost: turn.onLost };
  return lead(lease, ({ lost, holds }) => begin(AbortSignal.any([stop, lost]), holds), stop);
}
