import type { KubeObject } from '../object.ts';
import type { Selector } from '../selectors.ts';
import { badRequest, expired } from '../status-error.ts';
import type { ObjectChange } from '../store/history.ts';
import { apiVersionOf } from '../types/resource-type.ts';
import type { Call } from './call.ts';
import { selection, versionIn } from './list.ts';
import { present } from './present.ts';

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: object;
}

/** The client of a watch. */
export interface WatchClient {
  readonly send: (event: WatchEvent) => void;
  readonly end: () => void;
}

const bookmarkMillis = 60_000;
const defaultSeconds = 1800;
const initialEventsEnd = { 'k8s.io/initial-events-end': 'true' };

interface Watch {
  readonly call: Call;
  readonly selects: Selector;
  readonly client: WatchClient;
}

/** Sends changes to a client, from the requested version on; returns a function that stops it. */
export function watch(call: Call, client: WatchClient): () => void {
  const watching = { call, selects: selection(call), client };
  const { state, type, query } = call;
  catchUp(watching);
  const stopListening = state.store.listen((change) => {
    if (change.collection === type.collection) sendChange(watching, change);
  });
  const bookmarks = setInterval(() => wantsBookmarks(call) && bookmark(watching), bookmarkMillis);
  const seconds = Number(query.get('timeoutSeconds') ?? 0) || defaultSeconds;
  const limit = setTimeout(() => {
    if (wantsBookmarks(call)) bookmark(watching);
    client.end();
  }, seconds * 1000);
  return () => {
    stopListening();
    clearInterval(bookmarks);
    clearTimeout(limit);
  };
}

const wantsBookmarks = ({ query }: Call): boolean => query.get('allowWatchBookmarks') === 'true';

/** Sends the existing objects, or the changes since the requested version. */
function catchUp(watching: Watch): void {
  const { call } = watching;
  const version = call.query.get('resourceVersion') || '0';
  const initial = initialEvents(call.query, version);
  if (initial !== 'false') sendAll(watching);
  else for (const change of missedSince(call, version)) sendChange(watching, change);
  if (initial === 'true' && wantsBookmarks(call)) bookmark(watching, initialEventsEnd);
}

/** Whether existing objects are sent first: `true` or `false` as requested, or by the rules of an old-style watch. */
function initialEvents(query: URLSearchParams, version: string): string {
  const asked = query.get('sendInitialEvents');
  if (asked !== null && query.get('resourceVersionMatch') !== 'NotOlderThan')
    throw badRequest('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  return asked ?? (version === '0' ? 'old style' : 'false');
}

function sendAll({ call, selects, client }: Watch): void {
  const { state, type, target } = call;
  for (const object of state.store.list(type.collection, target.namespace).filter(selects))
    client.send({ type: 'ADDED', object: present(type, object) });
}

function missedSince({ state, type }: Call, version: string): readonly ObjectChange[] {
  if (version === '0') return [];
  const missed = state.store.historyOf(type.collection).after(versionIn(version));
  if (missed === undefined) throw expired(`too old resource version: ${version} (${state.store.version})`);
  return missed;
}

/**
 * Sends a change as the selection shows it: an object that begins to match is ADDED, one that no longer matches is
 * DELETED.
 */
function sendChange({ call, selects, client }: Watch, { type: what, object, before, namespace }: ObjectChange): void {
  const { target, type } = call;
  if (namespace !== (target.namespace ?? namespace)) return;
  const isIn = what !== 'DELETED' && selects(object);
  const wasIn = before !== undefined && selects(before);
  if (!isIn && !wasIn) return;
  const event = eventType(isIn, wasIn);
  const shown = isIn ? object : lastSeen(before, object);
  client.send({ type: event, object: present(type, shown) });
}

function eventType(isIn: boolean, wasIn: boolean): 'ADDED' | 'MODIFIED' | 'DELETED' {
  if (!isIn) return 'DELETED';
  return wasIn ? 'MODIFIED' : 'ADDED';
}

/** An object that left is sent in its last state, with the version at which it left. */
const lastSeen = (before: KubeObject | undefined, { metadata, ...object }: KubeObject): KubeObject => ({
  ...(before ?? (object as KubeObject)),
  metadata: { ...(before?.metadata ?? metadata), resourceVersion: metadata.resourceVersion },
});

/** Sends a bookmark with the current version. */
function bookmark({ call, client }: Watch, annotations?: Record<string, string>): void {
  const { type, state } = call;
  const metadata = {
    resourceVersion: String(state.store.version),
    creationTimestamp: null,
    ...(annotations && { annotations }),
  };
  client.send({ type: 'BOOKMARK', object: { kind: type.kind, apiVersion: apiVersionOf(type), metadata } });
}
