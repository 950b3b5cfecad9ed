import { type Fields, fieldsOf, fill, same, textOf } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { FieldError } from '../status-error.ts';
import type { Strategy } from './strategy.ts';

const encoded = (data: unknown): Fields =>
  Object.fromEntries(
    Object.entries(fieldsOf(data)).map(([key, text]) => [key, Buffer.from(String(text)).toString('base64')]),
  );

/** Moves stringData into data. */
function mergeText(secret: KubeObject): void {
  const { stringData } = secret;
  if (stringData !== undefined) secret['data'] = { ...fieldsOf(secret['data']), ...encoded(stringData) };
  delete secret['stringData'];
  fill(secret, { type: 'Opaque' });
}

const immutableErrors = (object: KubeObject, old: KubeObject | undefined): readonly FieldError[] =>
  old?.['immutable'] === true && !same(object['data'], old['data'])
    ? [{ type: 'Forbidden', path: 'data', detail: 'field is immutable when `immutable` is set' }]
    : [];

const keyDetail =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** The errors of a key, which becomes a file name. */
function keyNameErrors(key: string): readonly string[] {
  const isDots = key === '.' || key === '..';
  return [
    ...(key.length > 253 ? ['must be no more than 253 characters'] : []),
    ...(/^[-._a-zA-Z0-9]+$/.test(key) ? [] : [keyDetail]),
    ...(isDots ? [`must not be '${key}'`] : []),
    ...(key.startsWith('..') && !isDots ? ["must not start with '..'"] : []),
  ];
}

const keyErrors = (object: KubeObject): readonly FieldError[] =>
  ['data', 'binaryData'].flatMap((field) =>
    Object.keys(fieldsOf(object[field])).flatMap((key) =>
      keyNameErrors(key).map(
        (detail): FieldError => ({ type: 'Invalid', path: `${field}[${key}]`, value: key, detail }),
      ),
    ),
  );

/** A key in data must not be in binaryData too. */
const duplicateKeyErrors = ({ data, binaryData }: KubeObject): readonly FieldError[] =>
  Object.keys(fieldsOf(data))
    .filter((key) => key in fieldsOf(binaryData))
    .map((key) => ({
      type: 'Invalid',
      path: `data[${key}]`,
      value: key,
      detail: 'duplicate of key present in binaryData',
    }));

function typeErrors(secret: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
  const { type } = secret;
  if (old !== undefined && old['type'] !== type)
    return [{ type: 'Invalid', path: 'type', value: type, detail: 'field is immutable' }];
  const has = (key: string): boolean => fieldsOf(secret['data'])[key] !== undefined;
  const [needed = [], oneOfThese = []] = neededBy[textOf(type)] ?? [];
  const missing = [...needed.filter((key) => !has(key)), ...(oneOfThese.some(has) ? [] : oneOfThese)];
  return missing.map((key): FieldError => ({ type: 'Required', path: `data[${key}]`, detail: '' }));
}

/** The required keys by type: all of the first list, one of the second. */
const neededBy: Readonly<Record<string, readonly [readonly string[], (readonly string[])?]>> = {
  'kubernetes.io/tls': [['tls.crt', 'tls.key']],
  'kubernetes.io/basic-auth': [[], ['username', 'password']],
  'kubernetes.io/ssh-auth': [['ssh-privatekey']],
  'kubernetes.io/dockerconfigjson': [['.dockerconfigjson']],
  'kubernetes.io/dockercfg': [['.dockercfg']],
};

export const secrets: Strategy = {
  prepare: mergeText,
  prepareUpdate: mergeText,
  validate: (secret, old) => [...keyErrors(secret), ...typeErrors(secret, old), ...immutableErrors(secret, old)],
};
export const configMaps: Strategy = {
  validate: (map, old) => [...keyErrors(map), ...duplicateKeyErrors(map), ...immutableErrors(map, old)],
};
