import type { ControllerContext } from '../controllers/shared/context.ts';
import { keyOf } from '../kube/object.ts';
import type { Clock } from '../runtime/clock.ts';
import { Memories } from '../runtime/memories.ts';

/**
 * A lasting warning is recorded again after this time: before the EventRecorder forgets it, so that its count
 * increases.
 */
const repeatMillis = 540_000;
/** A warning that no pass has raised for this time has ended. Passes are up to a minute apart. */
const overMillis = 75_000;
/** The number of remembered warnings per object. */
const most = 100;

interface Warning {
  readonly recordedAt: number;
  readonly raisedAt: number;
}

/** Records a warning when it starts, changes or comes back, and not in every pass. */
export function recordOnce(
  record: ControllerContext['recordEvent'],
  { monotonic }: Pick<Clock, 'monotonic'>,
  memories = new Memories(),
): ControllerContext['recordEvent'] {
  const byKey = memories.map<Map<string, Warning>>('warnings');
  return (about, event) => {
    if (event.type === 'Normal') return record(about, event);
    const key = keyOf(about.metadata);
    const warnings = byKey.get(key) ?? new Map<string, Warning>();
    byKey.set(key, warnings);
    const [what, now] = [`${about.metadata.uid} ${event.reason} ${event.message}`, monotonic()];
    const known = warnings.get(what);
    const isNew = known === undefined || now - known.raisedAt >= overMillis || now - known.recordedAt >= repeatMillis;
    warnings.delete(what); // re-inserting moves the key to the end, so the oldest come first
    warnings.set(what, { recordedAt: isNew ? now : known.recordedAt, raisedAt: now });
    for (const oldest of [...warnings.keys()].slice(0, -most)) warnings.delete(oldest);
    if (isNew) record(about, event);
  };
}
