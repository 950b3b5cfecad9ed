import type { Registry } from 'prom-client';
import type { ClusterObject, Tools } from '../controllers/cluster/sources.ts';
import type { ClusterDialect, OldLockPlace } from '../dialects/dialect.ts';
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
import { whenKindIsThere } from './kind-is-there.ts';
import type { Log } from './log.ts';
import { placesOf, waitForOldLock } from './old-lock.ts';
import { restoreKinds } from './restore-kinds.ts';
import type { RestoreParts } from './restores.ts';
import type { Served } from './served.ts';
import type { Settings } from './settings.ts';

export interface BackupTurn extends Pick<BackupParts, 'scope' | 'isOurs' | 'identity' | 'onTrouble'> {
  readonly client: KubeClient;
  /** Where the operator itself is. */
  readonly namespace: string;
  readonly settings: Settings;
  readonly log: Log;
  readonly metrics: Registry;
  readonly lacks: ReadonlySet<string>;
  /** Called when leadership is lost, before anything else hears of it. */
  readonly onLost?: LeaseOptions['onLost'];
  readonly wayTo: Tools['wayTo'];
  readonly dialects: readonly Served[];
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
  const { backups: dialect, schedules, clusters } = api;
  const isOurs = clusters.scopeAnnotation === undefined ? () => true : turn.isOurs;
  const work: Group['work'] = async (signal, leads) => {
    const image = await agentImage('backup', turn.settings, turn.client);
    const operators = { ...turn.settings.store, namespace: turn.namespace };
    const onCache = (declared: Store<ClusterObject>): void => turn.onCache(dialect, declared);
    const { backupController } = await import('./backups.ts');
    const { scheduleController } = await import('./schedules.ts');
    const parts = { ...turn, isOurs, leads, image, dialect, clusters, operators, onCache };
    const ofSchedules = schedules && scheduleController({ ...parts, dialect: schedules, backups: dialect });
    await runTogether([backupController(parts), ...(ofSchedules === undefined ? [] : [ofSchedules])], signal);
  };
  return takeTurn(turn, { ...locksOf(api, clusters), kind: namespaced(dialect), work }, stop);
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
  const work: Group['work'] = async (signal, leads) => {
    const image = await agentImage('restore', turn.settings, turn.client);
    const { restoreController } = await import('./restores.ts');
    const operators = { ...turn.settings.store, namespace: turn.namespace };
    const parts = { ...turn, image, isOurs, leads, operators, keepsSecrets: !turn.lacks.has('secrets') };
    await restoreController(served, parts)(signal);
  };
  await takeTurn(turn, { ...locksOf(api, served.dialect), kind: api.resource, work }, stop);
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
  readonly kind: Resource<ClusterObject>;
  /** `leads`: whether the lease of this group is still ours; not there where there is none. */
  readonly work: (signal: AbortSignal, leads: Leadership['holds'] | undefined) => Promise<void>;
}

async function takeTurn(turn: BackupTurn, group: Group, stop: AbortSignal): Promise<void> {
  const { client, scope, namespace, identity, log, lacks, onTrouble, settings } = turn;
  const { kind, lease: name, oldLock, work } = group;
  if (!(await whenKindIsThere(kind, { client, scope, clock, log }, stop))) return;
  const begin = async (signal: AbortSignal, leads?: Leadership['holds']): Promise<void> => {
    const places = oldLock === undefined || lacks.has(oldLock.plural) ? [] : placesOf(oldLock, settings.lease);
    for (const place of places) await waitForOldLock({ client, namespace, place, clock, log }, signal);
    if (signal.aborted) return;
    log.info({ identity, kind: kind.kind }, 'looking after them');
    await work(signal, leads);
  };
  if (lacks.has('leases') || settings.lease === undefined) return begin(stop);
  const lease = { client, namespace, name, identity, clock, onTrouble, onLost: turn.onLost };
  return lead(lease, ({ lost, holds }) => begin(AbortSignal.any([stop, lost]), holds), stop);
}
