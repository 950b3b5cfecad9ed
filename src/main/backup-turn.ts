import type { Registry } from 'prom-client';
import type { ClusterObject, Tools } from '../controllers/cluster/sources.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Resource } from '../kube/resource.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { lead } from '../runtime/lease.ts';
import { agentImage } from './agent-image.ts';
import { backups, restores } from './agent-kinds.ts';
import { backupMetrics, restoreMetrics } from './backup-metrics.ts';
import type { BackupParts } from './backups.ts';
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
  readonly wayTo: Tools['wayTo'];
}

/** Waits until there can be backups, then for its turn, and looks after them for as long as that lasts. */
export async function lookAfterBackups(turn: BackupTurn, stop: AbortSignal): Promise<void> {
  const work = async (signal: AbortSignal): Promise<void> => {
    const image = await agentImage(turn.settings, turn.client);
    const metrics = backupMetrics(turn.metrics, turn.log);
    const { backupController } = await import('./backups.ts');
    await backupController({ ...turn, image, ...metrics })(signal);
  };
  await takeTurn(turn, { kind: backups, lease: 'etcd-backup-operator', work }, stop);
}

/** The same for restores. */
export async function lookAfterRestores(turn: BackupTurn, stop: AbortSignal): Promise<void> {
  const work = async (signal: AbortSignal): Promise<void> => {
    const image = await agentImage(turn.settings, turn.client);
    const onOutcome = restoreMetrics(turn.metrics, turn.log);
    const { restoreController } = await import('./restores.ts');
    await restoreController({ ...turn, image, onOutcome, keepsSecrets: !turn.lacks.has('secrets') })(signal);
  };
  await takeTurn(turn, { kind: restores, lease: 'etcd-restore-operator', work }, stop);
}

interface Group {
  readonly kind: Resource<ClusterObject>;
  /** The original's name for the lock of that operator of its own. */
  readonly lease: string;
  readonly work: (signal: AbortSignal) => Promise<void>;
}

async function takeTurn(turn: BackupTurn, { kind, lease: name, work }: Group, stop: AbortSignal): Promise<void> {
  const { client, scope, namespace, identity, log, lacks, onTrouble } = turn;
  if (!(await whenKindIsThere(kind, { client, scope, clock, log }, stop))) return;
  const begin = (signal: AbortSignal): Promise<void> => {
    log.info({ identity, kind: kind.kind }, 'looking after them');
    return work(signal);
  };
  if (lacks.has('leases')) return begin(stop);
  const lease = { client, namespace, name, identity, clock, onTrouble };
  return lead(lease, ({ lost }) => begin(AbortSignal.any([stop, lost])), stop);
}
