import type { Form } from '../http/negotiate.ts';
import { isFields } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { cellsIn, columnsOf } from './table.ts';

interface List {
  readonly metadata: object;
  readonly items: readonly KubeObject[];
}

const isList = (body: object): body is List => 'items' in body && Array.isArray(body.items);

/** The response in the requested form. A body that is no object of the resource, such as a Status, is unchanged. */
export function inForm(form: Form, type: ResourceType, body: object): object {
  if (form.as === 'object' || !isOf(type, body)) return body;
  if (form.as === 'Table') return tableOf(form, type, body);
  const items = isList(body) ? body.items.map(partial) : undefined;
  if (items === undefined) return partial(body as KubeObject);
  return { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata: (body as List).metadata, items };
}

const isOf = ({ kind, listKind }: ResourceType, body: object): boolean =>
  'kind' in body && (body.kind === kind || body.kind === listKind);

const partial = ({ metadata }: KubeObject): KubeObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata,
});

function tableOf({ includeObject }: Form, type: ResourceType, body: object): object {
  const items = isList(body) ? body.items : [body as KubeObject];
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: isList(body) ? body.metadata : { resourceVersion: (body as KubeObject).metadata.resourceVersion },
    columnDefinitions: columnsOf(type).map(({ name, type: kind, format, priority }) => ({
      name,
      type: kind,
      format,
      description: '',
      priority,
    })),
    rows: items.map((object) => ({
      cells: cellsIn(type, object),
      ...(includeObject !== 'None' && {
        object: includeObject === 'Object' ? withKind(type, object) : partial(object),
      }),
    })),
  };
}

const withKind = ({ kind }: ResourceType, object: KubeObject): object =>
  isFields(object) ? { ...object, kind } : object;
