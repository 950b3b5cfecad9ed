import type { PreUpgradeBackupDialect, PreUpgradeTarget } from '../../common/dialect.ts';
import { preUpgradeBackupName } from '../../common/schema/names.ts';
import { isBackupBlocked } from '../../common/status/conditions.ts';
import { storedBackupStatus } from './backup-status.ts';

interface TemplateSpec {
  readonly source?: unknown;
  readonly destination?: { readonly objectURLTemplate?: string };
  readonly retention?: unknown;
}

/** Drops the retention of the template, because a pre-upgrade backup runs once. */
function specFrom(template: unknown, target: PreUpgradeTarget): object {
  const { source: _source, retention: _retention, destination = {}, ...rest } = (template ?? {}) as TemplateSpec;
  const [object = '', ...options] = (destination.objectURLTemplate ?? '').split('?');
  const objectURLTemplate = [`${object}-${preUpgradeBackupName(target)}`, ...options].join('?');
  return { ...rest, source: { clusterName: target.cluster }, destination: { ...destination, objectURLTemplate } };
}

function stateOf(raw: unknown): ReturnType<PreUpgradeBackupDialect['stateOf']> {
  const { status } = (raw ?? {}) as { readonly status?: unknown };
  const { phase, message: why = '', conditions } = storedBackupStatus.parse(status ?? {});
  if (phase === 'Completed') return { state: 'good', why: '' };
  if (isBackupBlocked(conditions)) return { state: 'blocked', why };
  return { state: phase === 'Failed' ? 'failed' : 'under-way', why };
}

export const preUpgradeBackups: PreUpgradeBackupDialect = {
  plural: 'etcdbackups',
  kind: 'EtcdBackup',
  specFrom,
  stateOf,
};
