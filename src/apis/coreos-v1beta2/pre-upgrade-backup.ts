import type { PreUpgradeBackupDialect, PreUpgradeTarget } from '../common/dialect.ts';
import { preUpgradeBackupName } from '../common/schema/names.ts';
import { isBackupBlocked } from '../common/status/conditions.ts';
import { storedBackupStatus } from './backup-status.ts';
import { type StorageType, storageTypes } from './store-spec.ts';

interface TemplateSpec {
  readonly storageType?: string;
  readonly serviceAccountName?: string;
  readonly backupPolicy?: { readonly timeoutInSecond?: number; readonly compression?: string };
  readonly [store: string]: unknown;
}

/** Drops schedule and retention of the template, because a pre-upgrade backup runs once. */
function specFrom(template: unknown, target: PreUpgradeTarget): object {
  const { storageType = '', serviceAccountName, backupPolicy = {}, ...stores } = (template ?? {}) as TemplateSpec;
  const { timeoutInSecond, compression } = backupPolicy;
  const field = storageTypes.includes(storageType as StorageType) ? storageType.toLowerCase() : 's3';
  const store = (stores[field] ?? {}) as { readonly path?: string };
  return {
    etcdCluster: { name: target.cluster },
    storageType,
    serviceAccountName,
    backupPolicy: { timeoutInSecond, compression },
    [field]: { ...store, path: `${store.path ?? ''}-${preUpgradeBackupName(target)}` },
  };
}

function stateOf(raw: unknown): ReturnType<PreUpgradeBackupDialect['stateOf']> {
  const { status } = (raw ?? {}) as { readonly status?: unknown };
  const { succeeded, Reason: why = '', lastScheduleTime, conditions } = storedBackupStatus.parse(status ?? {});
  if (succeeded === true) return { state: 'good', why: '' };
  if (lastScheduleTime !== undefined) return { state: 'failed', why };
  return isBackupBlocked(conditions) ? { state: 'blocked', why } : { state: 'under-way', why: '' };
}

export const preUpgradeBackups: PreUpgradeBackupDialect = {
  plural: 'etcdbackups',
  kind: 'EtcdBackup',
  specFrom,
  stateOf,
};
