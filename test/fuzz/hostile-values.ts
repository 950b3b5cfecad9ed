import fc from 'fast-check';
import type { StructuralSchema } from '../../src/apis/common/schema/structural-schema.ts';
import { texts } from './hostile-texts.ts';

/** Values that users write by mistake, or to do harm. */

const sizes = [52, 53, 64, 253, 254, 300, 1024, 2049, 8193, 33_000, 70_000, 300_000];

const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...texts) },
  { weight: 1, arbitrary: fc.constantFrom(...sizes).map((size) => 'x'.repeat(size)) },
  { weight: 1, arbitrary: fc.array(fc.nat(0xffff), { maxLength: 20 }).map((units) => String.fromCharCode(...units)) },
  { weight: 1, arbitrary: fc.string({ maxLength: 40 }) },
);

const numbers = [
  -1,
  0,
  -0,
  1,
  2,
  4,
  8,
  9,
  10,
  1e9,
  1.5,
  0.1,
  65_536,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  2 ** 63,
  1e21,
  1e308,
  -1e308,
];

const hostileNumber: fc.Arbitrary<number> = fc.oneof(fc.constantFrom(...numbers), fc.integer());

function nested(depth: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? { a: value } : [value];
  return value;
}

/** An object with its own key, also for `__proto__`. */
export const withKey = (key: string, value: unknown): object => Object.fromEntries([[key, value]]);

const hostileTree: fc.Arbitrary<unknown> = fc.constantFrom<unknown>(
  ...[[], {}, [[]], [{}], [null], { '': '' }, [''], ['a', 'a'], { a: null }],
  ...[withKey('__proto__', { polluted: 'yes' }), withKey('constructor', { prototype: { polluted: 'yes' } })],
  ...[withKey('toString', 'x'), { length: 3 }, nested(8), nested(40), nested(200)],
  ...[{ secretKeyRef: { name: 'user-secret', key: 'token' } }, { secretKeyRef: { name: 'foreign', key: 'token' } }],
  ...[{ privileged: true }, { hostPath: { path: '/' } }, { runAsUser: 0 }, { runAsNonRoot: false }],
  ...[{ containers: [{ name: 'etcd', image: 'x' }] }, [{ name: 'etcd', image: 'x', command: ['/bin/sh'] }]],
  ...[{ name: 'ETCD_NAME', value: 'x' }, [{ name: 'ETCD_FORCE_NEW_CLUSTER', value: 'true' }]],
  ...[{ requests: { memory: '2Gi' }, limits: { memory: '1Mi' } }, { storage: '1Mi' }],
  Array.from({ length: 200 }, (_, index) => ({ name: `item-${index}` })),
  Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`key-${index}`, 'v'])),
);

const anything: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  hostileNumber,
  fc.boolean(),
  fc.constant(null),
  hostileTree,
  fc.jsonValue({ maxDepth: 3 }),
);

const hostileList = fc.oneof(fc.array(anything, { maxLength: 3 }), hostileTree);
const hostileMap = fc.oneof(anything, fc.dictionary(hostileText, anything, { maxKeys: 3 }));

/** Values for a field: mostly of its type, so that they pass the first check. */
export function hostileValue(schema: StructuralSchema): fc.Arbitrary<unknown> {
  const fitting = fittingValue(schema);
  return fc.oneof({ weight: 3, arbitrary: fitting }, { weight: 1, arbitrary: anything });
}

function fittingValue({ type, enum: allowed }: StructuralSchema): fc.Arbitrary<unknown> {
  if (allowed !== undefined) return fc.oneof(fc.constantFrom(...allowed), hostileText);
  switch (type ?? 'object') {
    case 'string':
      return hostileText;
    case 'integer':
    case 'number':
      return hostileNumber;
    case 'boolean':
      return fc.boolean();
    case 'array':
      return hostileList;
    default:
      return hostileMap;
  }
}

/** Keys that a typing error or an attacker adds to an object. */
export const hostileKey: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'hostNetwork',
    'hostPID',
    'hostIPC',
    'hostPath',
    'privileged',
    'nodeName',
    'containers',
    'initContainers',
    'ephemeralContainers',
    'volumes',
    'runtimeClassName',
    'namespace',
    'Size',
    'replica',
    '',
  ),
  hostileText.filter((text) => text.length < 400),
);
