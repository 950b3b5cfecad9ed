import type { KubeObject } from '../object.ts';
import { badRequest, expired } from '../refusal.ts';
import type { Selector } from '../selectors.ts';
import type { Happening } from '../store/history.ts';
import { apiVersionOf } from '../types/resource-type.ts';
import type { Call } from './call.ts';
import { selection, versionIn } from './list.ts';
import { present } from './present.ts';

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: object;
}

/** Who follows a watch. */
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
  const bookmarks = setInterval(() => wantsBookmarks(call) && bookmark(following), bookmarkMillis);
  const seconds = Number(query.get('timeoutSeconds') ?? 0) || defaultSeconds;
  const limit = setTimeout(() => {
    if (wantsBookmarks(call)) bookmark(following);
    follower.end();
  }, seconds * 1000);
  return () => {
    stopListening();
    clearInterval(bookmarks);
    clearTimeout(limit);
  };
}

const wantsBookmarks = ({ query }: Call): boolean => query.get('allowWatchBookmarks') === 'true';

/** First what is there already, or what was missed. */
function catchUp(following: Following): void {
  const { call } = following;
  const version = call.query.get('resourceVersion') || '0';
  const initial = initialEvents(call.query, version);
  if (initial !== 'false') tellAll(following);
  else for (const happening of missedSince(call, version)) tell(following, happening);
  if (initial === 'true' && wantsBookmarks(call)) bookmark(following, initialEventsEnd);
}

/** Whether the follower wants to be told first what is there, and in which of two ways. */
function initialEvents(query: URLSearchParams, version: string): string {
  const asked = query.get('sendInitialEvents');
  if (asked !== null && query.get('resourceVersionMatch') !== 'NotOlderThan')
    throw badRequest('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  return asked ?? (version === '0' ? 'old style' : 'false');
}

function tellAll({ call, selects, follower }: Following): void {
  const { state, type, target } = call;
  for (const object of state.store.list(type.collection, target.namespace).filter(selects))
    follower.send({ type: 'ADDED', object: present(type, object) });
}

function missedSince({ state, type }: Call, version: string): readonly Happening[] {
  if (version === '0') return [];
  const missed = state.store.historyOf(type.collection).after(versionIn(version));
  if (missed === undefined) throw expired(`too old resource version: ${version} (${state.store.version})`);
  return missed;
}

/** An object that comes into a selection was added to it, whatever happened to it. */
function tell({ call, selects, follower }: Following, { type: what, object, before, namespace }: Happening): void {
  const { target, type } = call;
  if (namespace !== (target.namespace ?? namespace)) return;
  const isIn = what !== 'DELETED' && selects(object);
  const wasIn = before !== undefined && selects(before);
  if (!isIn && !wasIn) return;
  const event = eventType(isIn, wasIn);
  const shown = isIn ? object : lastSeen(before, object);
  follower.send({ type: event, object: present(type, shown) });
}

function eventType(isIn: boolean, wasIn: boolean): 'ADDED' | 'MODIFIED' | 'DELETED' {
  if (!isIn) return 'DELETED';
  return wasIn ? 'MODIFIED' : 'ADDED';
}

/** What left is shown as it last was, with the version at which it left. */
const lastSeen = (before: KubeObject | undefined, { metadata, ...object }: KubeObject): KubeObject => ({
  ...(before ?? (object as KubeObject)),
  metadata: { ...(before?.metadata ?? metadata), resourceVersion: metadata.resourceVersion },
});

/** Says up to which version all is told. */
function bookmark({ call, follower }: Following, annotations?: Record<string, string>): void {
  const { type, state } = call;
  const metadata = {
    resourceVersion: String(state.store.version),
    creationTimestamp: null,
    ...(annotations && { annotations }),
  };
  follower.send({ type: 'BOOKMARK', object: { kind: type.kind, apiVersion: apiVersionOf(type), metadata } });
}
