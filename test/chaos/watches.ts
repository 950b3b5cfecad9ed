import { type KeyChange, textOfChange } from './operation.ts';

/** One watch, from its start until it is closed or breaks. */
export interface WatchSession {
  /** The revision from which events were requested. */
  readonly from: number;
  readonly events: readonly KeyChange[];
}

/** A watcher of all keys with a prefix. Each session resumes after the last event of the session before. */
export interface WatchRecord {
  readonly name: string;
  readonly prefix: string;
  readonly sessions: readonly WatchSession[];
}

/**
 * The violations of etcd's guarantees for watches, up to the revision `last` that every watcher has reached:
 *
 *   ordered    revisions of events ascend
 *   unique     no event arrives twice
 *   reliable   no event is missing, compared with acknowledged writes and with the other watchers
 *   resumable  a session has no event before the revision that it was started from
 *   truthful   an event is equal for all watchers, and equal to the acknowledged write
 */
export function watchViolations(
  records: readonly WatchRecord[],
  acknowledged: readonly KeyChange[],
  last: number,
): readonly string[] {
  const everything = unionOf(records, acknowledged).filter(({ revision }) => revision <= last);
  return [
    ...records.flatMap((record) => [
      ...unordered(record),
      ...repeatedIn(record),
      ...notRequested(record),
      ...missingIn(record, everything),
    ]),
    ...contradictions(everything),
  ];
}

/** All known changes, each once, in the order of their revisions. */
export function unionOf(
  records: readonly WatchRecord[],
  acknowledged: readonly KeyChange[] = [],
): readonly KeyChange[] {
  const changes = new Map([...acknowledged, ...records.flatMap(eventsIn)].map((each) => [textOfChange(each), each]));
  return [...changes.values()].toSorted((a, b) => a.revision - b.revision);
}

/** The keys and values at a revision, as text. */
export function stateAt(changes: readonly KeyChange[], at: number): Readonly<Record<string, string>> {
  const state = new Map<string, string>();
  for (const { revision, key, kind, value } of changes.toSorted((a, b) => a.revision - b.revision)) {
    if (revision > at) break;
    if (kind === 'delete') state.delete(key);
    else state.set(key, value);
  }
  return Object.fromEntries([...state].toSorted(([a], [b]) => a.localeCompare(b)));
}

const eventsIn = ({ sessions }: WatchRecord): readonly KeyChange[] => sessions.flatMap(({ events }) => events);

/** Every request changes one key, so two events never share a revision. */
const unordered = ({ name, sessions }: WatchRecord): readonly string[] =>
  sessions.flatMap(({ events }) =>
    events.flatMap((event, index) => {
      const before = events[index - 1];
      if (before === undefined || before.revision <= event.revision) return [];
      return [`${name}: not ordered: "${textOfChange(event)}" after "${textOfChange(before)}"`];
    }),
  );

const repeatedIn = (record: WatchRecord): readonly string[] =>
  [...Map.groupBy(eventsIn(record), ({ revision, key }) => `${revision} ${key}`).values()].flatMap(([event, second]) =>
    event === undefined || second === undefined ? [] : [`${record.name}: not unique: "${textOfChange(event)}"`],
  );

const notRequested = ({ name, sessions }: WatchRecord): readonly string[] =>
  sessions.flatMap(({ from, events }) =>
    events
      .filter(({ revision }) => revision < from)
      .map((event) => `${name}: not resumable: "${textOfChange(event)}" in a watch from revision ${from}`),
  );

function missingIn(record: WatchRecord, everything: readonly KeyChange[]): readonly string[] {
  const received = new Set(eventsIn(record).map(({ revision, key }) => `${revision} ${key}`));
  return everything
    .filter(({ key, revision }) => key.startsWith(record.prefix) && !received.has(`${revision} ${key}`))
    .map((change) => `${record.name}: not reliable: "${textOfChange(change)}" is missing`);
}

const contradictions = (everything: readonly KeyChange[]): readonly string[] =>
  [...Map.groupBy(everything, ({ revision }) => revision).values()]
    .filter(({ length }) => length > 1)
    .map((changes) => `not truthful: one revision has several changes: ${changes.map(textOfChange).join('; ')}`);
