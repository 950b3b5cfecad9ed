const againMillis = 1000;
const fullDisk = new Set(['ENOSPC', 'EDQUOT']);

const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && fullDisk.has(String(error.code));

/** Does something, and says whether the disk had room for it. */
export function hadRoom(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (isFull(error)) return false;
    throw error;
  }
}

/**
 * Does something in a moment. Nobody waits for it who could be told that the disk is full, so then it is tried until there is
 * room again; it must look anew at what there is to do each time.
 */
export function later(work: () => void): void {
  const attempt = (): void => {
    if (!hadRoom(work)) setTimeout(attempt, againMillis).unref();
  };
  setImmediate(attempt);
}
