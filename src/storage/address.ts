import { Failure } from '../std/failure.ts';
import { problemWithKey } from './keys.ts';
import { isMetadataAddress, isMetadataName } from './metadata-guard.ts';

export type StoreKind = 's3' | 'gcs' | 'azblob' | 'oss' | 'file';

/** Which store, and how to reach it; nothing secret. */
export interface StoreAddress {
  readonly kind: StoreKind;
  /** The bucket or container; of a `file` store, the volume claim. */
  readonly bucket: string;
  /** Another server than the provider's own, always with its scheme. */
  readonly endpoint?: string;
  readonly region?: string;
  /** `https://server/bucket/key` in place of `https://bucket.server/key`. */
  readonly pathStyle?: true;
  /** Which profile of the files in the Secret; "default" unless said. */
  readonly profile?: string;
  /** Azure's storage account, where no Secret names it. */
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

const without = null;
/** The words that may follow the `?` of a URL, and what they set; some are known to others and have no effect here. */
const words: Readonly<Record<StoreKind, Readonly<Record<string, Option | 'disableSSL' | typeof without>>>> = {
  s3: {
    region: 'region',
    endpoint: 'endpoint',
    disableSSL: 'disableSSL',
    s3ForcePathStyle: 'pathStyle',
    profile: 'profile',
  },
  gcs: { endpoint: 'endpoint', access_id: without, private_key_path: without },
  azblob: { storage_account: 'account', endpoint: 'endpoint' },
  oss: { endpoint: 'endpoint' },
  file: {},
};

/** Complains of a field in words for whoever wrote it. */
const complaint = (field: string, says: string): Failure => new Failure('rejected', `${field}: ${says}`);

/** Reads `s3://bucket/key?region=…`, and the like for the other stores. `field` is where the user wrote it. */
export function parseObjectUrl(text: string, field: string): ObjectAddress {
  const parts = /^([a-z][a-z0-9]*):\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?(#.*)?$/i.exec(text.trim());
  if (parts === null) throw complaint(field, `"${text}" is no URL of an object: write it as s3://bucket/key`);
  const [scheme = '', authority = '', path, query, fragment] = parts.slice(1);
  const kind = kindOf(scheme, field);
  if (authority.includes('@'))
    throw complaint(field, 'has credentials in it: put them into a Secret, where they are safe');
  if (fragment !== undefined) throw complaint(field, 'has a "#" in it: write it as %23');
  const store = { kind, bucket: authority, ...optionsIn(new URLSearchParams(query), kind, field) };
  return checked({ store, key: decoded(path ?? '', field) }, field);
}

function kindOf(scheme: string, field: string): StoreKind {
  const kind = schemes[scheme.toLowerCase()];
  if (kind !== undefined) return kind;
  throw complaint(field, `"${scheme}" is no kind of store: use one of ${Object.keys(schemes).join(', ')}`);
}

/** Reads `bucket/key`, with the rest from other fields of the resource. */
export function parsePath(path: string, store: Omit<StoreAddress, 'bucket'>, field: string): ObjectAddress {
  const slash = path.indexOf('/');
  if (slash < 1 || slash === path.length - 1)
    throw complaint(field, `"${path}" does not name a bucket and a key: write it as bucket/key`);
  const { endpoint, ...rest } = store;
  const given = endpoint === undefined || endpoint === '' ? {} : { endpoint: endpointIn(endpoint, 'https', field) };
  return checked({ store: { ...rest, bucket: path.slice(0, slash), ...given }, key: path.slice(slash + 1) }, field);
}

/** The same as one line, for the command line of an agent. */
export function urlOf({ store, key }: ObjectAddress): string {
  const scheme = Object.entries(schemes).find(([, kind]) => kind === store.kind)?.[0];
  const query = new URLSearchParams();
  for (const [word, option] of Object.entries(words[store.kind])) {
    const value = option === without || option === 'disableSSL' ? undefined : store[option];
    if (value !== undefined) query.set(word, String(value));
  }
  const path = key.split('/').map(encodeURIComponent).join('/');
  return `${scheme}://${store.bucket}/${path}${query.size === 0 ? '' : `?${query.toString()}`}`;
}

/**
 * Where else an object may be that is to be read: the second API's original takes the "/" before a key for its first letter.
 * Whether its libraries leave that out again depends on the store.
 */
export const otherKeysOf = ({ store, key }: ObjectAddress): readonly string[] =>
  store.kind === 's3' || store.kind === 'gcs' ? [`/${key}`] : [];

/** Whether the way there is open for others to read: legal, and worth a warning. */
export const isPlainHttp = ({ endpoint }: StoreAddress): boolean => endpoint?.startsWith('http:') === true;

function optionsIn(query: URLSearchParams, kind: StoreKind, field: string): Partial<StoreAddress> {
  const plain = isTrue(query.get('disableSSL') ?? '', 'disableSSL', field);
  const valueOf = (option: Option, word: string, text: string): string | boolean => {
    if (option === 'pathStyle') return isTrue(text, word, field);
    return option === 'endpoint' ? endpointIn(text, plain ? 'http' : 'https', field) : text;
  };
  const options: [Option, string | boolean][] = [];
  for (const [word, text] of query) {
    const option = words[kind][word];
    if (option === undefined) throw complaint(field, unknownWord(word, kind));
    if (option !== without && option !== 'disableSSL') options.push([option, valueOf(option, word, text)]);
  }
  return Object.fromEntries(options.filter(([, value]) => value !== false));
}

function unknownWord(word: string, kind: StoreKind): string {
  const known = Object.keys(words[kind]);
  return `"${word}" means nothing here: ${known.length === 0 ? 'leave it out' : `known are ${known.join(', ')}`}`;
}

function isTrue(value: string, word: string, field: string): boolean {
  if (/^(?:true|1|t)$/i.test(value)) return true;
  if (/^(?:false|0|f|)$/i.test(value)) return false;
  throw complaint(field, `${word} is "${value}": must be true or false`);
}

/** With a scheme, whether it was written with one or not. */
function endpointIn(text: string, scheme: 'http' | 'https', field: string): string {
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `${scheme}://${text}`);
  const problem = url === null ? 'cannot be read' : problemWithEndpoint(url);
  if (url !== null && problem === undefined) return url.href.replace(/\/$/, '');
  throw complaint(field, `the endpoint "${withoutSecrets(text)}" ${problem}: write it as https://server:port`);
}

/** By its address, or by the names that clouds give it; other names are checked when they are looked up. */
const isMetadataService = (host: string): boolean => isMetadataAddress(host) || isMetadataName(host);

function problemWithEndpoint(url: URL): string | undefined {
  if (!/^https?:$/.test(url.protocol)) return 'is neither http nor https';
  if (url.username !== '' || url.password !== '') return 'has credentials in it';
  if (url.search !== '' || url.hash !== '') return 'has more than a server and a path';
  // There the cloud tells its machines their secrets: no store is at that address.
  if (isMetadataService(url.hostname)) return "is the machine's own metadata service, which keeps no backups";
  return undefined;
}

const withoutSecrets = (text: string): string => text.replace(/\/\/[^/@]*@/, '//…@');

function decoded(path: string, field: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw complaint(field, `"${path}" has a "%" that begins no code: write it as %25`);
  }
}

/** Azure's own rule for storage accounts; and what can be one part of a host's name. */
const isAccount = (text: string): boolean => /^[a-z0-9]{3,24}$/.test(text);
const isHostLabel = (text: string): boolean => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(text);

/** Accounts and regions become parts of the host that is dialled with credentials, so nothing else may be in them. */
function problemWithNames({ account, region }: StoreAddress): string | undefined {
  if (account !== undefined && !isAccount(account)) return accountProblem(account);
  if (region !== undefined && !isHostLabel(region))
    return `"${region}" is no region: letters, digits and "-" make one, such as eu-west-1`;
  return undefined;
}

const accountProblem = (account: string): string =>
  `"${account}" is no storage account of Azure's: 3 to 24 small letters and digits make one`;

/** Throws a Failure for what is no storage account, wherever it was found. */
export function assertAccount(account: string, field: string): void {
  if (!isAccount(account)) throw complaint(field, accountProblem(account));
}

function checked(address: ObjectAddress, field: string): ObjectAddress {
  const { bucket } = address.store;
  if (!/^[a-z0-9](?:[a-z0-9._-]{0,253}[a-z0-9])?$/i.test(bucket) || bucket.includes('..'))
    throw complaint(field, `"${bucket}" is no name of a bucket: letters, digits, ".", "-" and "_" make one`);
  const misfit = problemWithNames(address.store);
  if (misfit !== undefined) throw complaint(field, misfit);
  const problem = problemWithKey(address.key);
  if (problem !== undefined) throw complaint(field, `the key "${address.key}" ${problem}`);
  return address;
}
