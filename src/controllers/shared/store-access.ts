import type { StoreLocation, StorePath } from '../../core/backup/store-location.ts';
import { type AgentMount, agentPaths } from '../../core/manifests/agent-pod.ts';
import { isPlainHttp, type ObjectAddress, parseObjectUrl, parsePath, urlOf } from '../../objectstore/address.ts';
import { renderTemplate } from '../../objectstore/template.ts';

/** The arguments, mounts and labels of an agent pod that opens a store. */
export interface StoreAccess {
  readonly args: readonly string[];
  readonly mounts: readonly AgentMount[];
  /** The labels of the pod, by which the cloud provider assigns an identity. */
  readonly labels: Readonly<Record<string, string>>;
  /** True if the connection is not encrypted. */
  readonly isPlain: boolean;
}

/** The Event for a store with an http:// endpoint, which is allowed. */
export const plainHttp = {
  type: 'Warning',
  reason: 'PlainHttp',
  message: 'the endpoint of the store is http://: the whole database is sent unencrypted; use an https:// endpoint',
} as const;

type Use = 'to-read' | 'to-write';

/** Throws a Failure that names the field if the address is invalid. */
export function storeAccess(place: StoreLocation, use: Use): StoreAccess {
  const address = addressOf(place, use);
  const url = ['--url', urlOf(address)];
  const isPlain = isPlainHttp(address.store);
  if (address.store.kind === 'file') {
    const mount = { path: agentPaths.volume, claim: address.store.bucket, readOnly: use === 'to-read' };
    return { args: [...url, '--volume', agentPaths.volume], mounts: [mount], labels: {}, isPlain };
  }
  if (place.secret === undefined) return { args: url, mounts: [], labels: labelsFor(address), isPlain };
  return {
    args: [...url, '--credentials', agentPaths.storeSecret, '--secret', place.secret],
    mounts: [{ path: agentPaths.storeSecret, secret: place.secret }],
    labels: {},
    isPlain,
  };
}

/** Azure assigns a workload identity only to pods with this label; other providers need only the ServiceAccount. */
const labelsFor = ({ store }: ObjectAddress): StoreAccess['labels'] =>
  store.kind === 'azblob' ? { 'azure.workload.identity/use': 'true' } : {};

/** Parses the address of an object. Throws a Failure that names the field if the address is invalid. */
export function addressOf(place: StoreLocation, use: Use = 'to-write'): ObjectAddress {
  if (!('url' in place)) return addressOfPath(place);
  const { url, values, field } = place;
  const written = values === undefined ? url : renderTemplate(url, values, field);
  return parseObjectUrl(use === 'to-read' ? withOneSlash(written) : written, field);
}

/**
 * The original improbable operator stores objects under an extra "/". Agents find both keys, so the extra "/" is
 * removed here.
 */
const withOneSlash = (url: string): string => url.replace(/^(\s*(?:s3|gs):\/\/[^/?#]+\/)\/(?=[^/])/i, '$1');

function addressOfPath({ kind, path, endpoint, pathStyle, field }: StorePath): ObjectAddress {
  const store = {
    kind,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(pathStyle === true ? { pathStyle } : {}),
  } as const;
  return parsePath(path, store, field);
}
