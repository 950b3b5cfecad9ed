import type { Registry } from 'prom-client';
import type { KubeClient } from '../kube/client.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { lead } from '../runtime/lease.ts';
import { agentImage } from './agent-image.ts';
import { backupMetrics } from './backup-metrics.ts';
import { type BackupParts, backupController, backups } from './backups.ts';
import { whenKindIsThere } from './kind-is-there.ts';
import type { Log } from './log.ts';
import type { Settings } from './settings.ts';

export interface BackupTurn extends Pick<BackupParts, 'scope' | 'isOurs' | 'identity' | 'onTrouble'> {
  readonly client: KubeClient;
  /** Where the operator itself is. */
  readonly namespace: string;
  readonly settings: Settings;
  readonly log: Log;
  readonly metrics: Registry;
  readonly lacks: ReadonlySet<string>;
}

/** Waits until there can be backups, then for its turn, and looks after them for as long as that lasts. */
export async function lookAfterBackups(turn: BackupTurn, stop: AbortSignal): Promise<void> {
  const { client, scope, namespace, identity, log, lacks, onTrouble } = turn;
  if (!(await whenKindIsThere(backups, { client, scope, clock, log }, stop))) return;
  const work = async (signal: AbortSignal): Promise<void> => {
    log.info({ identity }, 'looking after backups');
    const image = await agentImage(turn.settings, client);
    const metrics = backupMetrics(turn.metrics, log);
    await backupController({ ...turn, image, onCache: metrics.onCache, onOutcome: metrics.onOutcome })(signal);
  };
  if (lacks.has('leases')) return work(stop);
  const lease = { client, namespace, name: 'etcd-backup-operator', identity, clock, onTrouble };
  return lead(lease, ({ lost }) => work(AbortSignal.any([stop, lost])), stop);
}
