import type { BackupIntent } from './model.ts';

/** Time limits of a backup run, in seconds. */
export interface Limits {
  /** Deletion of old backups. */
  readonly pruning: number;
  /** The whole pod, with the pull of its image. */
  readonly pod: number;
  /** The whole run, with the scheduling and the termination of the pod. */
  readonly run: number;
}

/** The maximum that the API server accepts. */
const most = 2 ** 31 - 1;
const slack = 60;

export function limitsOf({ timeoutSeconds }: Pick<BackupIntent, 'timeoutSeconds'>): Limits {
  const pruning = Math.max(60, Math.ceil(timeoutSeconds / 2));
  const pod = Math.min(timeoutSeconds + pruning + slack, most);
  return { pruning, pod, run: pod + slack };
}
