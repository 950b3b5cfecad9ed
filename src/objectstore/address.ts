import { Failure } from '../std/failure.ts';
import { problemWithKey } from './keys.ts';
import { isMetadataAddress, isMetadataName } from './metadata-guard.ts';

export type StoreKind = 's3' | 'gcs' | 'azblob' | 'oss' | 'file';

/** Address of a store, without secrets. */
export interface StoreAddress {
  readonly kind: StoreKind;
  /** The bucket or container; for a `file` store, the PVC. */
  readonly bucket: string;
  /** URL of a server other than the provider's own, with its scheme. */
  readonly endpoint?: string;
  readonly region?: string;
  /** `https://server/bucket/key` in place of `https://bucket.server/key`. */
  readonly pathStyle?: true;
  /** Profile in the credentials file of the Secret; "default" if undefined. */
  readonly profile?: string;
  /** Storage account of Azure, if no Secret names it. */
  readonly account?: string;
}

export interface ObjectAddress {
  readonly store: StoreAddress;
  readonly key: string;
}

type Option = Exclude<keyof StoreAddress, 'kind' | 'bucket'>;

const schemes: Readonly<Record<string, StoreKind>> = {
  s3: 's3',
  gs: 'gcs',
  azblob: 'azblob',
  oss: 'oss',
  file: 'file',
};

const ignored = null;
/** Query parameters of URLs, and what they set. Some parameters of other tools are accepted and ignored. */
const parameters: Readonly<Record<StoreKind, Readonly<Record<string, Option | 'disableSSL' | typeof ignored>>>> = {
  s3: {
    region: 'region',
    endpoint: 'endpoint',
    disableSSL: 'disableSSL',
    s3ForcePathStyle: 'pathStyle',
    profile: 'profile',
  },
  gcs: { endpoint: 'endpoint', access_id: ignored, private_key_path: ignored },
  azblob: { storage_account: 'account', endpoint: 'endpoint' },
  oss: { endpoint: 'endpoint' },
  file: {},
};

/** A Failure that names the field of the spec or the flag. */
const fieldError = (field: string, detail: string): Failure => new Failure('rejected', `${field}: ${detail}`);

/** Parses `s3://bucket/key?region=…`, or the URL of another store. `field` is the field or flag with the URL. */
export function parseObjectUrl(text: string, field: string): ObjectAddress {
  const parts = /^([a-z][a-z0-9]*):\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?(#.*)?$/i.exec(text.trim());
  if (parts === null) throw fieldError(field, `"${text}" is not the URL of an object: write it as s3://bucket/key`);
  const [scheme = '', authority = '', path, query, fragment] = parts.slice(1);
  const kind = kindOf(scheme, field);
  if (authority.includes('@')) throw fieldError(field, 'contains credentials: move them into a Secret');
  if (fragment !== undefined) throw fieldError(field, 'contains "#": write it as %23');
  const store = { kind, bucket: authority, ...optionsIn(new URLSearchParams(query), kind, field) };
  return checked({ store, key: decoded(path ?? '', field) }, field);
}

function kindOf(scheme: string, field: string): StoreKind {
  const kind = schemes[scheme.toLowerCase()];
  if (kind !== undefined) return kind;
  throw fieldError(field, `"${scheme}" is not a kind of store: use one of ${Object.keys(schemes).join(', ')}`);
}

/** Parses `bucket/key`. The rest of the address comes from other fields of the resource. */
export function parsePath(path: string, store: Omit<StoreAddress, 'bucket'>, field: string): ObjectAddress {
  const slash = path.indexOf('/');
  if (slash < 1 || slash === path.length - 1)
    throw fieldError(field, `"${path}" does not name a bucket and a key: write it as bucket/key`);
  const { endpoint, ...rest } = store;
  const given = endpoint === undefined || endpoint === '' ? {} : { endpoint: endpointIn(endpoint, 'https', field) };
  return checked({ store: { ...rest, bucket: path.slice(0, slash), ...given }, key: path.slice(slash + 1) }, field);
}

/** The address as a URL, for the command line of an agent. */
export function urlOf({ store, key }: ObjectAddress): string {
  const scheme = Object.entries(schemes).find(([, kind]) => kind === store.kind)?.[0];
  const query = new URLSearchParams();
  for (const [name, option] of Object.entries(parameters[store.kind])) {
    const value = option === ignored || option === 'disableSSL' ? undefined : store[option];
    if (value !== undefined) query.set(name, String(value));
  }
  const path = key.split('/').map(encodeURIComponent).join('/');
  return `${scheme}://${store.bucket}/${path}${query.size === 0 ? '' : `?${query.toString()}`}`;
}

/**
 * Other keys that an object may have: the original improbable operator makes the "/" before a key part of the key on
 * some stores.
 */
export const otherKeysOf = ({ store, key }: ObjectAddress): readonly string[] =>
  store.kind === 's3' || store.kind === 'gcs' ? [`/${key}`] : [];

/** True if the traffic to the store is not encrypted. This is allowed, with a warning. */
export const isPlainHttp = ({ endpoint }: StoreAddress): boolean => endpoint?.startsWith('http:') === true;

function optionsIn(query: URLSearchParams, kind: StoreKind, field: string): Partial<StoreAddress> {
  const plain = isTrue(query.get('disableSSL') ?? '', 'disableSSL', field);
  const valueOf = (option: Option, name: string, text: string): string | boolean => {
    if (option === 'pathStyle') return isTrue(text, name, field);
    return option === 'endpoint' ? endpointIn(text, plain ? 'http' : 'https', field) : text;
  };
  const options: [Option, string | boolean][] = [];
  for (const [name, text] of query) {
    const option = parameters[kind][name];
    if (option === undefined) throw fieldError(field, unknownParameter(name, kind));
    if (option !== ignored && option !== 'disableSSL') options.push([option, valueOf(option, name, text)]);
  }
  return Object.fromEntries(options.filter(([, value]) => value !== false));
}

function unknownParameter(name: string, kind: StoreKind): string {
  const known = Object.keys(parameters[kind]);
  return `unknown parameter "${name}": ${known.length === 0 ? 'remove it' : `use ${known.join(', ')}`}`;
}

function isTrue(value: string, name: string, field: string): boolean {
  if (/^(?:true|1|t)$/i.test(value)) return true;
  if (/^(?:false|0|f|)$/i.test(value)) return false;
  throw fieldError(field, `${name} is "${value}": must be true or false`);
}

/** Parses an endpoint, and adds the scheme if it has none. */
function endpointIn(text: string, scheme: 'http' | 'https', field: string): string {
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `${scheme}://${text}`);
  const problem = url === null ? 'is not a URL' : problemWithEndpoint(url);
  if (url !== null && problem === undefined) return url.href.replace(/\/$/, '');
  throw fieldError(field, `the endpoint "${withoutSecrets(text)}" ${problem}: write it as https://server:port`);
}

/** True for addresses and known names of metadata services. Other names are checked at their DNS lookup. */
const isMetadataService = (host: string): boolean => isMetadataAddress(host) || isMetadataName(host);

function problemWithEndpoint(url: URL): string | undefined {
  if (!/^https?:$/.test(url.protocol)) return 'is neither http nor https';
  if (url.username !== '' || url.password !== '') return 'contains credentials';
  if (url.search !== '' || url.hash !== '') return 'contains a query or a fragment';
  // Metadata services of clouds give out secrets of the node; no store is at their addresses.
  if (isMetadataService(url.hostname)) return 'is the metadata service of the cloud, which is not a store';
  return undefined;
}

const withoutSecrets = (text: string): string => text.replace(/\/\/[^/@]*@/, '//…@');

function decoded(path: string, field: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw fieldError(field, `"${path}" contains a "%" without a code: write it as %25`);
  }
}

/** Syntax of storage accounts of Azure, and of one label of a host name. */
const isAccount = (text: string): boolean => /^[a-z0-9]{3,24}$/.test(text);
const isHostLabel = (text: string): boolean => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(text);

/** Accounts and regions become labels of the host that gets the credentials, so other characters are refused. */
function problemWithNames({ account, region }: StoreAddress): string | undefined {
  if (account !== undefined && !isAccount(account)) return accountProblem(account);
  if (region !== undefined && !isHostLabel(region))
    return `"${region}" is not a valid region: use letters, digits and "-", as in eu-west-1`;
  return undefined;
}

const accountProblem = (account: string): string =>
  `"${account}" is not a valid storage account of Azure: use 3 to 24 lowercase letters and digits`;

/** Throws a Failure if the name is not a valid storage account. */
export function assertAccount(account: string, field: string): void {
  if (!isAccount(account)) throw fieldError(field, accountProblem(account));
}

function checked(address: ObjectAddress, field: string): ObjectAddress {
  const { bucket } = address.store;
  if (!/^[a-z0-9](?:[a-z0-9._-]{0,253}[a-z0-9])?$/i.test(bucket) || bucket.includes('..'))
    throw fieldError(field, `"${bucket}" is not a valid bucket name: use letters, digits, ".", "-" and "_"`);
  const nameProblem = problemWithNames(address.store);
  if (nameProblem !== undefined) throw fieldError(field, nameProblem);
  const problem = problemWithKey(address.key);
  if (problem !== undefined) throw fieldError(field, `the key "${address.key}" ${problem}`);
  return address;
}
