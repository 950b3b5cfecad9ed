const retryMillis = 1000;
const fullDiskCodes = new Set(['ENOSPC', 'EDQUOT']);

const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && fullDiskCodes.has(String(error.code));

/** Runs work; returns false if the disk is full. */
export function hadDiskSpace(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (isFull(error)) return false;
    throw error;
  }
}

/**
 * Runs work soon. No client waits for it, so on a full disk it is retried until there is space. The work must read its
 * input anew at each attempt.
 */
export function defer(work: () => void): void {
  const attempt = (): void => {
    if (!hadDiskSpace(work)) setTimeout(attempt, retryMillis).unref();
  };
  setImmediate(attempt);
}
