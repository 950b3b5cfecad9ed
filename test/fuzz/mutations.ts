import fc from 'fast-check';
import { hostileKey, hostileValue } from './hostile-values.ts';
import { type Kind, kinds, namesOfKind, objectWith, titleOf } from './kinds.ts';
import type { LabJson } from './lab-api.ts';
import { pathsOf, pathText, type SchemaPath, type Step } from './schema-paths.ts';

/** One change of a valid object. */
export type Mutation =
  | { readonly does: 'set'; readonly at: readonly Step[]; readonly to: unknown }
  | { readonly does: 'remove'; readonly at: readonly Step[] }
  | { readonly does: 'repeat'; readonly at: readonly Step[] };

/** A valid object, its changes, and the operator that gets it. */
export interface Example {
  readonly kind: Kind;
  readonly spec: LabJson;
  readonly mutations: readonly Mutation[];
  /** True for an operator of all namespaces with its restrictions. */
  readonly isShared: boolean;
  /** True if the controllers work on the object; otherwise the operator only reads and translates it. */
  readonly isWorked: boolean;
  readonly [fc.toStringMethod]: () => string;
}

const schemaAt = ({ schema }: Kind, field: string) => schema.properties?.[field] ?? {};

/** The fields of metadata that users write and the operator reads. */
const metadataPaths = (kind: Kind): readonly SchemaPath[] => {
  const { group } = namesOfKind(kind);
  const own = ['restoring', 'status', 'scope', 'allow-plaintext', 'template', 'example'].map(
    (name) => `${group}/${name}`,
  );
  const text = { type: 'string' };
  return [
    { steps: ['metadata', 'name'], schema: text },
    ...['labels', 'annotations'].flatMap((field) => [
      { steps: ['metadata', field], schema: { type: 'object' } },
      ...[...own, 'example'].map((key) => ({ steps: ['metadata', field, key], schema: text })),
    ]),
  ];
};

/** Every path of a kind: all of the spec, what is read of the metadata, and all of the status. */
export const allPaths = (kind: Kind): readonly SchemaPath[] => [
  ...pathsOf(schemaAt(kind, 'spec'), ['spec']),
  ...metadataPaths(kind),
  ...pathsOf(schemaAt(kind, 'status'), ['status']),
];

function mutationsAt({ steps, schema }: SchemaPath): fc.Arbitrary<Mutation> {
  const set = hostileValue(schema).map((to): Mutation => ({ does: 'set', at: steps, to }));
  const added = fc
    .tuple(hostileKey, hostileValue({ type: 'string' }))
    .map(([key, to]): Mutation => ({ does: 'set', at: [...steps, key], to }));
  const isMap = schema.type === 'object' || schema.type === undefined;
  return fc.oneof(
    { weight: 10, arbitrary: set },
    { weight: 2, arbitrary: fc.constant<Mutation>({ does: 'remove', at: steps }) },
    ...(isMap ? [{ weight: 3, arbitrary: added }] : []),
    ...(schema.type === 'array'
      ? [{ weight: 3, arbitrary: fc.constant<Mutation>({ does: 'repeat', at: steps }) }]
      : []),
  );
}

const describe = ({ kind, spec, mutations, isShared, isWorked }: Omit<Example, typeof fc.toStringMethod>): string =>
  JSON.stringify({
    kind: titleOf(kind),
    spec: kind.specs.indexOf(spec),
    isShared,
    isWorked,
    mutations: mutations.map(({ does, at, ...rest }) => ({ does, at: pathText(at), ...rest })),
  }).slice(0, 4000);

export const exampleOf = (fields: Omit<Example, typeof fc.toStringMethod>): Example => ({
  ...fields,
  [fc.toStringMethod]: () => describe(fields),
});

/** Passes of the controllers cost ten times as much as translation alone. */
const isWorked = fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) });

/** Each path of each kind has the same chance. */
export function examples(): fc.Arbitrary<Example> {
  const ofKind = kinds.map((kind) => {
    const paths = allPaths(kind).map(mutationsAt);
    const one = fc.oneof(...paths);
    const mutations = fc.oneof(
      { weight: 4, arbitrary: one.map((mutation) => [mutation]) },
      { weight: 1, arbitrary: fc.array(one, { minLength: 2, maxLength: 3, size: 'small' }) },
    );
    const arbitrary = fc
      .record({ spec: fc.constantFrom(...kind.specs), mutations, isShared: fc.boolean(), isWorked })
      .map((fields) => exampleOf({ kind, ...fields }));
    return { weight: Math.ceil(Math.sqrt(paths.length)), arbitrary };
  });
  return fc.oneof(...ofKind);
}

/** The object of an example. Its status is written on its own, as the API server demands. */
export const mutated = ({ kind, spec, mutations }: Pick<Example, 'kind' | 'spec' | 'mutations'>): LabJson =>
  mutations.reduce<unknown>(applied, objectWith(kind, spec)) as LabJson;

const applied = (object: unknown, { at, ...mutation }: Mutation): unknown => {
  const [step, ...rest] = at;
  if (step === undefined) return valueAfter(object, mutation);
  const entries = entriesIn(object, step);
  const before = entries.find(([key]) => key === String(step))?.[1];
  const after = rest.length === 0 ? valueAfter(before, mutation) : applied(before, { at: rest, ...mutation });
  const others = entries.filter(([key]) => key !== String(step));
  const result = after === undefined ? others : [...others, [String(step), after] as const];
  return typeof step === 'number' ? result.map(([, item]) => item) : Object.fromEntries(result);
};

function valueAfter(before: unknown, mutation: Mutation | Omit<Mutation, 'at'>): unknown {
  if (mutation.does === 'set') return 'to' in mutation ? mutation.to : undefined;
  if (mutation.does === 'remove') return undefined;
  return Array.isArray(before) ? [...before, ...before] : [before ?? {}, before ?? {}];
}

/** A missing parent is created; a parent of another type is replaced. */
function entriesIn(object: unknown, step: Step): readonly (readonly [string, unknown])[] {
  if (typeof step === 'number') return Array.isArray(object) ? Object.entries(object) : [];
  return typeof object === 'object' && object !== null && !Array.isArray(object) ? Object.entries(object) : [];
}
