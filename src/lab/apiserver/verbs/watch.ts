import type { KubeObject } from '../object.ts';
import { badRequest, expired } from '../refusal.ts';
import type { Selector } from '../selectors.ts';
import type { Happening } from '../store/history.ts';
import { apiVersionOf } from '../types/resource-type.ts';
import type { Call } from './call.ts';
import { selection } from './list.ts';
import { present } from './present.ts';

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: object;
}

/** Who follows a watch; `send` says false when the follower has fallen too far behind. */
export interface Follower {
  readonly send: (event: WatchEvent) => void;
  readonly end: () => void;
}

const bookmarkMillis = 60_000;
const defaultSeconds = 1800;
const initialEventsEnd = { 'k8s.io/initial-events-end': 'true' };

interface Following {
  readonly call: Call;
  readonly selects: Selector;
  readonly follower: Follower;
}

/** Tells a follower what happens, from the version it asks for on; gives back how to stop. */
export function watch(call: Call, follower: Follower): () => void {
  const following = { call, selects: selection(call), follower };
  const { state, type, query } = call;
  catchUp(following);
  const stopListening = state.store.listen((happening) => {
    if (happening.collection === type.collection) tell(following, happening);
  });
  const wantsBookmarks = query.get('allowWatchBookmarks') === 'true';
  const bookmarks = setInterval(() => wantsBookmarks && bookmark(following), bookmarkMillis);
  const seconds = Number(query.get('timeoutSeconds') ?? 0) || defaultSeconds;
  const limit = setTimeout(() => {
    if (wantsBookmarks) bookmark(following);
    follower.end();
  }, seconds * 1000);
  return () => {
    stopListening();
    clearInterval(bookmarks);
    clearTimeout(limit);
  };
}

/** First what is there already, or what was missed. */
function catchUp(following: Following): void {
  const { call, selects, follower } = following;
  const { state, type, target, query } = call;
  const version = query.get('resourceVersion') ?? '';
  const wantsAll = query.get('sendInitialEvents') === 'true';
  if (query.has('sendInitialEvents') && query.get('resourceVersionMatch') !== 'NotOlderThan')
    throw badRequest('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  if (version === '' || version === '0' || wantsAll) {
    if (query.get('sendInitialEvents') !== 'false')
      for (const object of state.store.list(type.collection, target.namespace))
        if (selects(object)) follower.send({ type: 'ADDED', object: present(type, object) });
    if (wantsAll && query.get('allowWatchBookmarks') === 'true') bookmark(following, initialEventsEnd);
    return;
  }
  for (const happening of missedSince(call, version)) tell(following, happening);
}

function missedSince({ state, type }: Call, version: string): readonly Happening[] {
  if (!/^[0-9]+$/.test(version)) throw badRequest(`Invalid value: "${version}": strconv.ParseUint: parsing "${version}": invalid syntax`);
  const missed = state.store.historyOf(type.collection).after(Number(version));
  if (missed === undefined) throw expired(`too old resource version: ${version} (${state.store.version})`);
  return missed;
}

/** An object that comes into a selection was added to it, whatever happened to it. */
function tell({ call, selects, follower }: Following, { type: what, object, before, namespace }: Happening): void {
  const { target, type } = call;
  if (target.namespace !== undefined && namespace !== target.namespace) return;
  const isIn = what !== 'DELETED' && selects(object);
  const wasIn = before !== undefined && selects(before);
  if (!isIn && !wasIn) return;
  const event = eventType(isIn, wasIn);
  const shown = event === 'DELETED' && before !== undefined ? lastSeen(before, object) : object;
  follower.send({ type: event, object: present(type, shown) });
}

function eventType(isIn: boolean, wasIn: boolean): 'ADDED' | 'MODIFIED' | 'DELETED' {
  if (!isIn) return 'DELETED';
  return wasIn ? 'MODIFIED' : 'ADDED';
}

/** What left is shown as it last was, with the version at which it left. */
const lastSeen = (before: KubeObject, { metadata }: KubeObject): KubeObject => ({
  ...before,
  metadata: { ...before.metadata, resourceVersion: metadata.resourceVersion },
});

/** Says up to which version all is told. */
function bookmark({ call, follower }: Following, annotations?: Record<string, string>): void {
  const { type, state } = call;
  const metadata = { resourceVersion: String(state.store.version), creationTimestamp: null, ...(annotations && { annotations }) };
  follower.send({ type: 'BOOKMARK', object: { kind: type.kind, apiVersion: apiVersionOf(type), metadata } });
}
