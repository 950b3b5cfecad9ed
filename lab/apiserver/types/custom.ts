import { at, type Fields, fieldsIn, fieldsOf, listOf, textOf } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { objectMeta, type Schema } from '../schema/schema.ts';
import type { Column, Custom, ResourceType, ScalePaths, Subresource } from './resource-type.ts';

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const partVerbs = ['get', 'patch', 'update'];

export const collectionOf = (definition: KubeObject): string =>
  `${textOf(at(definition, 'spec', 'group'))}/${textOf(at(definition, 'spec', 'names', 'plural'))}`;

/** The resource types of a CustomResourceDefinition, one for each served version. */
export function customTypes(definition: KubeObject): readonly ResourceType[] {
  const spec = fieldsOf(definition['spec']);
  const names = fieldsOf(spec['names']);
  const versions = fieldsIn(spec['versions']);
  const storageVersion = textOf(versions.find(({ storage }) => storage === true)?.['name']);
  const kind = textOf(names['kind']);
  const shared = {
    group: textOf(spec['group']),
    plural: textOf(names['plural']),
    singular: textOf(names['singular']) || kind.toLowerCase(),
    kind,
    listKind: textOf(names['listKind']) || `${kind}List`,
    namespaced: spec['scope'] === 'Namespaced',
    verbs,
    shortNames: listOf(names['shortNames']).map(String),
    categories: listOf(names['categories']).map(String),
    collection: collectionOf(definition),
  };
  return versions
    .filter(({ served }) => served === true)
    .map((version) => ({
      ...shared,
      version: textOf(version['name']),
      subresources: partsOf(version, kind),
      schema: schemaOf(version),
      custom: customOf(version, storageVersion),
    }));
}

function partsOf(version: Fields, kind: string): readonly Subresource[] {
  const { status, scale } = fieldsOf(version['subresources']);
  const own = { name: 'status', group: '', version: '', kind, verbs: partVerbs };
  const shared = { name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: partVerbs };
  return [...(status === undefined ? [] : [own]), ...(scale === undefined ? [] : [shared])];
}

/** Adds apiVersion, kind and metadata to the schema of the definition. */
function schemaOf(version: Fields): Schema {
  const schema = fieldsOf(at(version, 'schema', 'openAPIV3Schema')) as Schema;
  const text = { type: 'string' };
  return { ...schema, properties: { ...schema.properties, apiVersion: text, kind: text, metadata: objectMeta } };
}

const ageColumn: Column = {
  name: 'Age',
  type: 'date',
  format: '',
  priority: 0,
  jsonPath: '.metadata.creationTimestamp',
};

function customOf(version: Fields, storageVersion: string): Custom {
  const scale = at(version, 'subresources', 'scale');
  const columns = fieldsIn(version['additionalPrinterColumns']).map(
    ({ name, type, format, priority, jsonPath }): Column => ({
      name: textOf(name),
      type: textOf(type),
      format: textOf(format),
      priority: typeof priority === 'number' ? priority : 0,
      jsonPath: textOf(jsonPath),
    }),
  );
  return {
    columns: columns.length === 0 ? [ageColumn] : columns,
    ...(scale !== undefined && { scale: scale as ScalePaths }),
    selectableFields: fieldsIn(version['selectableFields']).map(({ jsonPath }) => textOf(jsonPath).replace(/^\./, '')),
    storageVersion,
  };
}
