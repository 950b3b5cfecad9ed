import type { BackupIntent } from '../../model/backup.ts';

/** How long each part of a run may take, in seconds. */
export interface Limits {
  /** Deleting old backups, for which those that are kept have to be looked at. */
  readonly pruning: number;
  /** The pod as a whole, which first has to pull its image. */
  readonly pod: number;
  /** All of it: beyond its own time a pod needs some to be scheduled and to end. */
  readonly run: number;
}

/** The API server takes no more. */
const most = 2 ** 31 - 1;
const slack = 60;

export function limitsOf({ timeoutSeconds }: Pick<BackupIntent, 'timeoutSeconds'>): Limits {
  const pruning = Math.max(60, Math.ceil(timeoutSeconds / 2));
  const pod = Math.min(timeoutSeconds + pruning + slack, most);
  return { pruning, pod, run: pod + slack };
}
