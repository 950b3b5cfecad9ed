import type { Tools } from '../controllers/cluster/sources.ts';
import { keyOf } from '../kube/object.ts';
import type { Clock } from '../runtime/clock.ts';
import { Memories } from '../runtime/memories.ts';

/** A trouble that lasts is told again after this time: before the recorder has forgotten it, which so counts it up. */
const repeatMillis = 540_000;
/** A trouble that no pass has met for this time was over; if it comes back, that is news. Passes are up to a minute apart. */
const overMillis = 75_000;
/** How many warnings are kept in mind of one object. */
const most = 100;

interface Warning {
  readonly toldAt: number;
  readonly metAt: number;
}

/** Tells of a trouble when it begins, when it changes and when it comes back, not in every pass that meets it. */
export function tellOnce(
  record: Tools['tell'],
  { monotonic }: Pick<Clock, 'monotonic'>,
  memories = new Memories(),
): Tools['tell'] {
  const byKey = memories.map<Map<string, Warning>>('warnings');
  return (about, news) => {
    if (news.type === 'Normal') return record(about, news);
    const key = keyOf(about.metadata);
    const warnings = byKey.get(key) ?? new Map<string, Warning>();
    byKey.set(key, warnings);
    const [what, now] = [`${about.metadata.uid} ${news.reason} ${news.message}`, monotonic()];
    const known = warnings.get(what);
    const isNews = known === undefined || now - known.metAt >= overMillis || now - known.toldAt >= repeatMillis;
    warnings.delete(what); // so that it moves to the end, where the newest are
    warnings.set(what, { toldAt: isNews ? now : known.toldAt, metAt: now });
    for (const oldest of [...warnings.keys()].slice(0, -most)) warnings.delete(oldest);
    if (isNews) record(about, news);
  };
}
