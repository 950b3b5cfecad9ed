import type { z } from 'zod';

/** Parses each stored status once, because every pass reads it several times. Stored objects are never changed. */
export function parseOnce<Status extends object>(schema: z.ZodType<Status>): (stored: unknown) => Status {
  const parsed = new WeakMap<object, Status>();
  return (stored) => {
    if (typeof stored !== 'object' || stored === null) return schema.parse(stored ?? {});
    const status = parsed.get(stored) ?? schema.parse(stored);
    parsed.set(stored, status);
    return status;
  };
}
