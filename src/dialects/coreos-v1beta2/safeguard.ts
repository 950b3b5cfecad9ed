import { isHeldUp } from '../conditions.ts';
import type { SafeguardDialect, Safeguarded } from '../dialect.ts';
import { nameBefore } from '../names.ts';
import { foundBackupStatus } from './backup-status.ts';
import { type StorageType, storageTypes } from './store-spec.ts';

interface Found {
  readonly storageType?: string;
  readonly serviceAccountName?: string;
  readonly backupPolicy?: { readonly timeoutInSecond?: number; readonly compression?: string };
  readonly [store: string]: unknown;
}

/** What a resource says of time is left out: this one is made once. */
function specLike(another: unknown, of: Safeguarded): object {
  const { storageType = '', serviceAccountName, backupPolicy = {}, ...found } = (another ?? {}) as Found;
  const { timeoutInSecond, compression } = backupPolicy;
  const field = storageTypes.includes(storageType as StorageType) ? storageType.toLowerCase() : 's3';
  const store = (found[field] ?? {}) as { readonly path?: string };
  return {
    etcdCluster: { name: of.cluster },
    ...{ storageType, serviceAccountName },
    backupPolicy: { timeoutInSecond, compression },
    [field]: { ...store, path: `${store.path ?? ''}-${nameBefore(of)}` },
  };
}

function stateOf(raw: unknown): ReturnType<SafeguardDialect['stateOf']> {
  const { status } = (raw ?? {}) as { readonly status?: unknown };
  const { succeeded, Reason: why = '', lastScheduleTime, conditions } = foundBackupStatus.parse(status ?? {});
  if (succeeded === true) return { state: 'good', why: '' };
  if (lastScheduleTime !== undefined) return { state: 'failed', why };
  return isHeldUp(conditions) ? { state: 'blocked', why } : { state: 'under-way', why: '' };
}

export const safeguards: SafeguardDialect = { plural: 'etcdbackups', kind: 'EtcdBackup', specLike, stateOf };
