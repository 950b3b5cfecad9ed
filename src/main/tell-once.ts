import type { Tools } from '../controllers/cluster/sources.ts';
import type { Clock } from '../runtime/clock.ts';

/** A trouble that lasts is told again after this time: before the recorder has forgotten it, which so counts it up. */
const repeatMillis = 540_000;
/** A trouble that no pass has met for this time was over; if it comes back, that is news. */
const overMillis = 15_000;
/** How many warnings are kept in mind, of all clusters together. */
const most = 1_000;

interface Warning {
  readonly toldAt: number;
  readonly metAt: number;
}

/** Tells of a trouble when it begins, when it changes and when it comes back, not in every pass that meets it. */
export function tellOnce(record: Tools['tell'], { monotonic }: Pick<Clock, 'monotonic'>): Tools['tell'] {
  const warnings = new Map<string, Warning>();
  return (about, news) => {
    if (news.type === 'Normal') return record(about, news);
    const [key, now] = [`${about.metadata.uid} ${news.reason} ${news.message}`, monotonic()];
    const known = warnings.get(key);
    const isNews = known === undefined || now - known.metAt >= overMillis || now - known.toldAt >= repeatMillis;
    warnings.delete(key); // so that it moves to the end, where the newest are
    warnings.set(key, { toldAt: isNews ? now : known.toldAt, metAt: now });
    for (const oldest of [...warnings.keys()].slice(0, -most)) warnings.delete(oldest);
    if (isNews) record(about, news);
  };
}
