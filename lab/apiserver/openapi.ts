import { createHash } from 'node:crypto';
import type { Fields } from './json.ts';
import { isFields } from './json.ts';
import { builtinSchemas, type Schema } from './schema/schema.ts';
import type { ServerState } from './state.ts';
import { apiVersionOf, hasSubresource, type ResourceType } from './types/resource-type.ts';

/** The OpenAPI v3 schemas of all kinds, one document for each group and version. */
export function openapi({ types }: ServerState, path: string): object | undefined {
  const [, version, ...rest] = path.split('/').filter(Boolean);
  if (version !== 'v3') return undefined;
  const all = types.all();
  if (rest.length === 0) return index(all);
  const served = all.filter((type) => rootOf(type) === rest.join('/'));
  return served.length === 0 ? undefined : document(served);
}

const rootOf = (type: ResourceType): string => `${type.group === '' ? 'api' : 'apis'}/${apiVersionOf(type)}`;

/** The hash lets clients cache a document. */
function index(types: readonly ResourceType[]): object {
  const paths = [...Map.groupBy(types, rootOf)].map(([root, served]) => {
    const hash = createHash('sha256').update(JSON.stringify(served)).digest('hex').toUpperCase();
    return [root, { serverRelativeURL: `/openapi/v3/${root}?hash=${hash}` }] as const;
  });
  return { paths: Object.fromEntries(paths) };
}

function document(served: readonly ResourceType[]): object {
  const [first] = served;
  const roots: Record<string, Schema> = Object.fromEntries(served.map((type) => [nameOf(type), withKind(type)]));
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.36.4' },
    paths: Object.assign({}, ...served.map((type) => pathsOf(type, rootOf(first ?? type)))) as object,
    components: { schemas: closure(roots) },
  };
}

const nameOf = ({ schema, group, version, kind }: ResourceType): string =>
  schema.$ref ?? `${group.split('.').toReversed().join('.')}.${version}.${kind}`;

const withKind = (type: ResourceType): Schema => {
  const { group, version, kind } = type;
  if (type.schema.$ref !== undefined) return builtinSchemas[type.schema.$ref] ?? {};
  return { ...type.schema, 'x-kubernetes-group-version-kind': [{ group, version, kind }] };
};

/** The given schemas and all schemas they refer to, with references in OpenAPI's form. */
function closure(roots: Record<string, Schema>): Fields {
  const found: Fields = {};
  const add = (name: string, schema: Schema | undefined): void => {
    if (schema === undefined || found[name] !== undefined) return;
    found[name] = {};
    found[name] = withReferences(schema, (inner) => add(inner, builtinSchemas[inner]));
  };
  for (const [name, schema] of Object.entries(roots)) add(name, schema);
  return found;
}

function withReferences(schema: unknown, onReference: (name: string) => void): unknown {
  if (Array.isArray(schema)) return schema.map((item) => withReferences(item, onReference));
  if (!isFields(schema)) return schema;
  const { $ref, properties, ...rest } = schema;
  const all = (fields: Fields): Fields =>
    Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, withReferences(value, onReference)]));
  const inner = { ...all(rest), ...(isFields(properties) && { properties: all(properties) }) };
  if (typeof $ref !== 'string') return inner;
  onReference($ref);
  return { ...inner, allOf: [{ $ref: `#/components/schemas/${$ref}` }] };
}

const parameters = ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => ({
  name,
  in: 'query',
  schema: { type: 'string', uniqueItems: true },
}));

/** The paths of a kind with the parts that clients read: kind, patch types and query parameters. */
function pathsOf(type: ResourceType, root: string): Fields {
  const { group, version, kind } = type;
  const gvk = { 'x-kubernetes-group-version-kind': { group, version, kind } };
  const content = { schema: { $ref: `#/components/schemas/${nameOf(type)}` } };
  const responses = { 200: { description: 'OK', content: { 'application/json': content } } };
  const body = { requestBody: { content: { 'application/json': content } } };
  const collection = `/${root}${type.namespaced ? '/namespaces/{namespace}' : ''}/${type.plural}`;
  const operation = (action: string, more: object = {}): object => ({
    responses,
    ...more,
    'x-kubernetes-action': action,
    ...gvk,
  });
  const object = {
    get: operation('get'),
    put: operation('put', { parameters, ...body }),
    patch: operation('patch', { parameters, requestBody: { content: patchTypes(type) } }),
    delete: operation('delete', { parameters }),
  };
  return {
    [collection]: { get: operation('list'), post: operation('post', { parameters, ...body }) },
    ...(type.verbs.includes('get') && { [`${collection}/{name}`]: object }),
    ...(hasSubresource(type, 'status') && { [`${collection}/{name}/status`]: object }),
  };
}

function patchTypes({ custom }: ResourceType): object {
  const kinds = [
    'apply-patch+yaml',
    'json-patch+json',
    'merge-patch+json',
    ...(custom === undefined ? ['strategic-merge-patch+json'] : []),
  ];
  return Object.fromEntries(kinds.map((kind) => [`application/${kind}`, {}]));
}
