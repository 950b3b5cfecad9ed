import { at, type Fields, fieldsIn, fieldsOf, isFields, put, textOf } from '../json.ts';
import { type KubeObject, now } from '../object.ts';
import { compileError } from '../schema/cel.ts';
import type { FieldError } from '../status-error.ts';
import type { Strategy } from './strategy.ts';

const cleanup = 'customresourcecleanup.apiextensions.k8s.io';

/** CustomResourceDefinitions: names are accepted and resources served at once. */
export const definitions: Strategy = {
  hasGeneration: true,
  prepare: (definition) => {
    complete(definition);
    Object.assign(definition.metadata, {
      finalizers: [...new Set([...(definition.metadata.finalizers ?? []), cleanup])],
    });
  },
  prepareUpdate: complete,
  status: (definition) => ({
    conditions: [
      condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
      condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
    ],
    acceptedNames: at(definition, 'spec', 'names'),
    storedVersions: fieldsIn(at(definition, 'spec', 'versions'))
      .filter(({ storage }) => storage === true)
      .map(({ name }) => name),
  }),
  validate: (definition, old) => [
    ...nameErrors(definition),
    ...versionErrors(definition),
    ...changeErrors(definition, old),
  ],
};

const condition = (type: string, reason: string, message: string): Fields => ({
  type,
  status: 'True',
  lastTransitionTime: now(),
  reason,
  message,
});

function complete(definition: KubeObject): void {
  const names = fieldsOf(at(definition, 'spec', 'names'));
  const kind = textOf(names['kind']);
  if (names['singular'] === undefined) put(definition, ['spec', 'names', 'singular'], kind.toLowerCase());
  if (names['listKind'] === undefined) put(definition, ['spec', 'names', 'listKind'], `${kind}List`);
  if (at(definition, 'spec', 'conversion') === undefined) put(definition, ['spec', 'conversion'], { strategy: 'None' });
}

function nameErrors(definition: KubeObject): readonly FieldError[] {
  const plural = textOf(at(definition, 'spec', 'names', 'plural'));
  const group = textOf(at(definition, 'spec', 'group'));
  const wanted = `${plural}.${group}`;
  if (definition.metadata.name === wanted) return [];
  return [
    {
      type: 'Invalid',
      path: 'metadata.name',
      value: definition.metadata.name,
      detail: `must be spec.names.plural+"."+spec.group`,
    },
  ];
}

function versionErrors(definition: KubeObject): readonly FieldError[] {
  const versions = fieldsIn(at(definition, 'spec', 'versions'));
  const stored = versions.filter(({ storage }) => storage === true);
  const path = 'spec.versions';
  const wrongStorage: FieldError[] =
    stored.length === 1
      ? []
      : [{ type: 'Invalid', path, value: versions, detail: 'must have exactly one version marked as storage version' }];
  return [
    ...wrongStorage,
    ...versions.flatMap((version, index) => {
      const schema = at(version, 'schema', 'openAPIV3Schema');
      const where = `${path}[${index}].schema.openAPIV3Schema`;
      if (schema === undefined) return [{ type: 'Required', path: where, detail: 'schemas are required' } as const];
      return ruleErrors(schema, where);
    }),
  ];
}

/** A CEL rule that does not compile would refuse every object. */
function ruleErrors(schema: unknown, path: string): readonly FieldError[] {
  if (!isFields(schema)) return [];
  const own = fieldsIn(schema['x-kubernetes-validations']).flatMap(({ rule }, index): FieldError[] => {
    const detail = compileError(textOf(rule));
    const where = `${path}.x-kubernetes-validations[${index}].rule`;
    return detail === undefined
      ? []
      : [{ type: 'Invalid', path: where, value: rule, detail: `compilation failed: ${detail}` }];
  });
  const properties = Object.entries(fieldsOf(schema['properties'])).flatMap(([name, inner]) =>
    ruleErrors(inner, `${path}.properties[${name}]`),
  );
  return [
    ...own,
    ...properties,
    ...ruleErrors(schema['items'], `${path}.items`),
    ...ruleErrors(schema['additionalProperties'], `${path}.additionalProperties`),
  ];
}

function changeErrors(definition: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
  if (old === undefined) return [];
  return [
    ['spec', 'group'],
    ['spec', 'scope'],
    ['spec', 'names', 'kind'],
    ['spec', 'names', 'plural'],
  ].flatMap((path): FieldError[] => {
    const value = at(definition, ...path);
    return value === at(old, ...path)
      ? []
      : [{ type: 'Invalid', path: path.join('.'), value, detail: 'field is immutable' }];
  });
}
