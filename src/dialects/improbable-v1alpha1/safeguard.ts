import { isHeldUp } from '../conditions.ts';
import type { SafeguardDialect, Safeguarded } from '../dialect.ts';
import { nameBefore } from '../names.ts';
import { foundBackupStatus } from './backup-status.ts';

interface Found {
  readonly source?: unknown;
  readonly destination?: { readonly objectURLTemplate?: string };
  readonly retention?: unknown;
}

/** What is told of one that is made again and again is left out: this one is made once. */
function specLike(another: unknown, of: Safeguarded): object {
  const { source: _another, retention: _many, destination = {}, ...like } = (another ?? {}) as Found;
  const [object = '', ...options] = (destination.objectURLTemplate ?? '').split('?');
  const objectURLTemplate = [`${object}-${nameBefore(of)}`, ...options].join('?');
  return { ...like, source: { clusterName: of.cluster }, destination: { ...destination, objectURLTemplate } };
}

function stateOf(raw: unknown): ReturnType<SafeguardDialect['stateOf']> {
  const { status } = (raw ?? {}) as { readonly status?: unknown };
  const { phase, message: why = '', conditions } = foundBackupStatus.parse(status ?? {});
  if (phase === 'Completed') return { state: 'good', why: '' };
  if (isHeldUp(conditions)) return { state: 'blocked', why };
  return { state: phase === 'Failed' ? 'failed' : 'under-way', why };
}

export const safeguards: SafeguardDialect = { plural: 'etcdbackups', kind: 'EtcdBackup', specLike, stateOf };
