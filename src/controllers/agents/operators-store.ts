import { isDeepStrictEqual } from 'node:util';
import type { StorePlace } from '../../core/model/store-place.ts';
import { Failure } from '../../std/failure.ts';
import { type ObjectAddress, parseObjectUrl } from '../../storage/address.ts';
import { addressOf } from './store-access.ts';

/** What the operator was given when it was installed, for backups and restores that name no credentials of their own. */
export interface OperatorsStore {
  /** Where the operator is, and where agents with its credentials work. */
  readonly namespace: string;
  readonly secret: string | undefined;
  /** Whose workload identity is used in place of a Secret. */
  readonly serviceAccountName: string | undefined;
  /** URLs with which those of objects must begin; where there are none, all are good. */
  readonly urls: readonly string[];
}

/** Why an object may not be reached with the operator's credentials; nothing if it may. */
export function refusalOf(place: StorePlace, namespace: string, operators: OperatorsStore): string | undefined {
  if (operators.secret === undefined && operators.serviceAccountName === undefined) return nothingGiven;
  const address = addressOf(place, 'to-read');
  if (isSentInTheOpen(address))
    return `${place.field}: an endpoint of one's own needs credentials of one's own: ${remedy}`;
  if (operators.urls.length === 0 || operators.urls.some((url) => isBelow(address, url, namespace))) return undefined;
  return `${place.field}: with the operator's credentials only ${operators.urls.join(', ')} may be used: ${remedy}`;
}

/**
 * The same of one that is to be read, and so to be seen by whoever asks: which objects that may be is not left open, unless it
 * is asked for where the credentials are.
 */
export function refusalToRead(place: StorePlace, namespace: string, operators: OperatorsStore): string | undefined {
  const refusal = refusalOf(place, namespace, operators);
  if (refusal !== undefined || operators.urls.length > 0 || namespace === operators.namespace) return refusal;
  return `nobody says what this namespace may read with the operator's credentials: ${remedy}, or start the operator with --store-urls`;
}

const remedy = 'name a Secret or a serviceAccountName of this namespace';
const nothingGiven =
  `no credentials for the store are named, and the operator was given none: ${remedy}, ` +
  'or start the operator with --store-secret or --store-service-account';

/** S3 and its kin sign requests; the others show what opens the store to whatever server they are led to. */
const isSentInTheOpen = ({ store }: ObjectAddress): boolean =>
  store.endpoint !== undefined && store.kind !== 's3' && store.kind !== 'oss';

/**
 * Whether an object is in the store that a URL names, and its key begins as the URL's. Every part of the address counts: each
 * may lead to another server, or choose other credentials.
 */
function isBelow(address: ObjectAddress, url: string, namespace: string): boolean {
  const allowed = allowedBy(url, namespace);
  return isDeepStrictEqual(allowed.store, address.store) && `${address.key}/`.startsWith(allowed.key);
}

const anyKey = 'x';

/** A URL may end after its bucket or with a `/`; then all below it is meant. `{{ .Namespace }}` is whoever asks. */
function allowedBy(url: string, namespace: string): ObjectAddress {
  const filled = url.replaceAll(/\{\{\s*\.Namespace\s*\}\}/g, namespace);
  const [path = '', query] = filled.split('?');
  const whole = `${path.replace(/\/*$/, '')}/${anyKey}${query === undefined ? '' : `?${query}`}`;
  const { store, key } = parseObjectUrl(whole, '--store-urls');
  return { store, key: key.slice(0, -anyKey.length) };
}

/** Throws a Failure for what is no beginning of a URL. */
export function checkUrls(urls: readonly string[]): void {
  for (const url of urls) if (url.trim() === '') throw new Failure('rejected', '--store-urls: is empty');
  for (const url of urls) allowedBy(url, 'any');
}
