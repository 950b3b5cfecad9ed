import { isDeepStrictEqual } from 'node:util';
import type { StoreLocation } from '../../core/backup/store-location.ts';
import { type ObjectAddress, parseObjectUrl } from '../../objectstore/address.ts';
import { Failure } from '../../std/failure.ts';
import { addressOf } from './store-access.ts';

/** The store credentials of the operator, for backups and restores that name no credentials. */
export interface OperatorStore {
  /** The namespace of the operator, where agents with its credentials run. */
  readonly namespace: string;
  readonly secret: string | undefined;
  /** The ServiceAccount whose workload identity is used instead of a Secret. */
  readonly serviceAccountName: string | undefined;
  /** The allowed prefixes of object URLs; all URLs are allowed if the list is empty. */
  readonly urls: readonly string[];
}

/** Returns why an object may not be reached with the operator's credentials; undefined if it may. */
export function storeRefusalOf(place: StoreLocation, namespace: string, operators: OperatorStore): string | undefined {
  if (operators.secret === undefined && operators.serviceAccountName === undefined) return noCredentials;
  const address = addressOf(place, 'to-read');
  if (sendsCredentials(address))
    return `${place.field}: a URL with an endpoint needs credentials of this namespace: ${remedy}`;
  if (operators.urls.length === 0 || operators.urls.some((url) => isBelow(address, url, namespace))) return undefined;
  return `${place.field}: the operator's credentials may be used only for ${operators.urls.join(', ')}: ${remedy}`;
}

/**
 * The same for reading. A reader sees the content of the object, so --store-urls must name the allowed objects, except
 * for the namespace of the operator.
 */
export function readRefusal(place: StoreLocation, namespace: string, operators: OperatorStore): string | undefined {
  const refusal = storeRefusalOf(place, namespace, operators);
  if (refusal !== undefined || operators.urls.length > 0 || namespace === operators.namespace) return refusal;
  return `this namespace may read no object with the operator's credentials: ${remedy}, or start the operator with --store-urls`;
}

const remedy = 'name a Secret or a serviceAccountName of this namespace';
const noCredentials =
  `no credentials for the store are named, and the operator has none: ${remedy}, ` +
  'or start the operator with --store-secret or --store-service-account';

/** S3 and OSS sign requests. Other providers send their credentials to the endpoint, which may be any server. */
const sendsCredentials = ({ store }: ObjectAddress): boolean =>
  store.endpoint !== undefined && store.kind !== 's3' && store.kind !== 'oss';

/**
 * True if an object is in the store of a URL, and its key begins with the key of the URL. Every part of the address is
 * compared, because each part may select another server or other credentials.
 */
function isBelow(address: ObjectAddress, url: string, namespace: string): boolean {
  const allowed = allowedBy(url, namespace);
  return isDeepStrictEqual(allowed.store, address.store) && `${address.key}/`.startsWith(allowed.key);
}

const anyKey = 'x';

/**
 * A URL that ends with its bucket or with `/` allows all objects below it. `{{ .Namespace }}` is the namespace of the
 * resource.
 */
function allowedBy(url: string, namespace: string): ObjectAddress {
  const filled = url.replaceAll(/\{\{\s*\.Namespace\s*\}\}/g, namespace);
  const [path = '', query] = filled.split('?');
  const whole = `${path.replace(/\/*$/, '')}/${anyKey}${query === undefined ? '' : `?${query}`}`;
  const { store, key } = parseObjectUrl(whole, '--store-urls');
  return { store, key: key.slice(0, -anyKey.length) };
}

/** Throws a Failure if a value of --store-urls is no prefix of an object URL. */
export function checkUrls(urls: readonly string[]): void {
  for (const url of urls) if (url.trim() === '') throw new Failure('rejected', '--store-urls: is empty');
  for (const url of urls) allowedBy(url, 'any');
}
