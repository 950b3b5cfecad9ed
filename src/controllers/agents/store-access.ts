import { type AgentMount, agentPaths } from '../../core/desired/agent-pod.ts';
import type { StorePath, StorePlace } from '../../core/model/store-place.ts';
import { isPlainHttp, type ObjectAddress, parseObjectUrl, parsePath, urlOf } from '../../storage/address.ts';
import { renderTemplate } from '../../storage/template.ts';

/** How an agent enters a store: what is told on its command line, and what is mounted for it. */
export interface StoreAccess {
  readonly words: readonly string[];
  readonly mounts: readonly AgentMount[];
  /** What its pod is labelled with, so that the cloud gives it its identity. */
  readonly labels: Readonly<Record<string, string>>;
  /** Whether others can read along on the way. */
  readonly isPlain: boolean;
}

/** What is told where others can read along: it is legal, and nobody should do it unknowingly. */
export const plainHttp = {
  type: 'Warning',
  reason: 'PlainHttp',
  message: 'the endpoint of the store is http://: whoever is on the way can read the whole database',
} as const;

type Use = 'to-read' | 'to-write';

/** Throws a Failure that names the field, where the place makes no sense. */
export function storeAccess(place: StorePlace, use: Use): StoreAccess {
  const address = addressOf(place, use);
  const url = ['--url', urlOf(address)];
  const isPlain = isPlainHttp(address.store);
  if (address.store.kind === 'file') {
    const mount = { path: agentPaths.volume, claim: address.store.bucket, readOnly: use === 'to-read' };
    return { words: [...url, '--volume', agentPaths.volume], mounts: [mount], labels: {}, isPlain };
  }
  if (place.secret === undefined) return { words: url, mounts: [], labels: labelsFor(address), isPlain };
  return {
    words: [...url, '--credentials', agentPaths.storeSecret, '--secret', place.secret],
    mounts: [{ path: agentPaths.storeSecret, secret: place.secret }],
    labels: {},
    isPlain,
  };
}

/** Azure gives identities to pods that ask for them so, and to no others; the other clouds go by the account alone. */
const labelsFor = ({ store }: ObjectAddress): StoreAccess['labels'] =>
  store.kind === 'azblob' ? { 'azure.workload.identity/use': 'true' } : {};

/** The object that is meant. Throws a Failure that names the field, where that makes no sense. */
export function addressOf(place: StorePlace, use: Use = 'to-write'): ObjectAddress {
  if (!('url' in place)) return addressOfPath(place);
  const { url, words, field } = place;
  const written = words === undefined ? url : renderTemplate(url, words, field);
  return parseObjectUrl(use === 'to-read' ? withOneSlash(written) : written, field);
}

/** The second API's original keeps objects under a "/" more than their URLs say; agents look there by themselves. */
const withOneSlash = (url: string): string => url.replace(/^(\s*(?:s3|gs):\/\/[^/?#]+\/)\/(?=[^/])/i, '$1');

function addressOfPath({ kind, path, endpoint, pathStyle, field }: StorePath): ObjectAddress {
  const store = {
    kind,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(pathStyle === true ? { pathStyle } : {}),
  } as const;
  return parsePath(path, store, field);
}
