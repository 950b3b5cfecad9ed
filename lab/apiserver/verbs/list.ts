import type { KubeObject } from '../object.ts';
import { fieldSelector, labelSelector, type Selector } from '../selectors.ts';
import { badRequest, expired } from '../status-error.ts';
import { apiVersionOf } from '../types/resource-type.ts';
import type { ApiResponse, Call } from './call.ts';
import { present } from './present.ts';
import { find } from './update.ts';

export const get = (call: Call): ApiResponse => ({ code: 200, body: present(call.type, find(call)) });

/** The label, field and name selectors of a request, combined. */
export function selection({ query, type, target }: Call): Selector {
  const labels = query.get('labelSelector');
  const fields = query.get('fieldSelector');
  const selects = [
    ...(labels ? [labelSelector(labels)] : []),
    ...(fields ? [fieldSelector(fields, type)] : []),
    ...(target.name === undefined ? [] : [(object: KubeObject) => object.metadata.name === target.name]),
  ];
  return (object) => selects.every((select) => select(object));
}

/** The continue token of a list: the version of the collection, and the last key of the page. */
interface ContinueToken {
  readonly version: number;
  readonly after: string;
  readonly left: number;
}

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;

export function list(call: Call): ApiResponse {
  const { state, type, query } = call;
  checkVersion(call);
  const token = parseToken(query.get('continue'));
  const limit = Number(query.get('limit') ?? 0);
  const selects = selection(call);
  const rest = itemsAt(call, token).filter(selects);
  const page = limit > 0 ? rest.slice(0, limit) : rest;
  const left = rest.length - page.length;
  const version = token?.version ?? state.store.version;
  const last = page.at(-1);
  const more = left > 0 &&
    last !== undefined && { continue: formatToken({ version, after: keyOf(last), left }), remainingItemCount: left };
  const metadata = { resourceVersion: String(version), ...more };
  const items = page.map((object) => present(type, object));
  return { code: 200, body: { kind: type.listKind, apiVersion: apiVersionOf(type), metadata, items } };
}

/** All pages of a list show the collection at the version of the first page. */
function itemsAt({ state, type, target }: Call, token: ContinueToken | undefined): readonly KubeObject[] {
  const current = state.store.list(type.collection, target.namespace);
  if (token === undefined) return current;
  const since = state.store.historyOf(type.collection).after(token.version);
  if (since === undefined)
    throw expired(
      'The provided continue parameter is too old to display a consistent list result. You must start a new list without the continue parameter.',
    );
  const objects = new Map(current.map((object) => [keyOf(object), object]));
  for (const { before, object } of since.toReversed()) {
    if (before === undefined) objects.delete(keyOf(object));
    else objects.set(keyOf(before), before);
  }
  return [...objects]
    .filter(([key, { metadata }]) => key > token.after && isWithin(metadata.namespace, target.namespace))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, object]) => object);
}

const isWithin = (namespace: string | undefined, asked: string | undefined): boolean =>
  asked === undefined || namespace === asked;

const formatToken = (token: ContinueToken): string => Buffer.from(JSON.stringify(token)).toString('base64url');

function parseToken(text: string | null): ContinueToken | undefined {
  if (!text) return undefined;
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as ContinueToken;
  } catch {
    throw badRequest(`continue key is not valid: ${text}`);
  }
}

function checkVersion({ query, state }: Call): void {
  const version = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch');
  if (match !== null && version === '')
    throw badRequest('resourceVersionMatch is forbidden unless resourceVersion is provided');
  const number = versionIn(version);
  if (number > state.store.version)
    throw badRequest(`Too large resource version: ${version}, current: ${state.store.version}`);
  if (match === 'Exact' && number > 0 && number < state.store.version)
    throw expired('The resourceVersion for the provided list is too old.');
}

/** The number of a resourceVersion; 0 if it is empty. */
export function versionIn(version: string): number {
  if (version !== '' && !/^[0-9]+$/.test(version))
    throw badRequest(
      `resourceVersion: Invalid value: "${version}": strconv.ParseUint: parsing "${version}": invalid syntax`,
    );
  return Number(version);
}
