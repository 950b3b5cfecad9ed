import { randomUUID } from 'node:crypto';
import type { RequestTarget } from '../http/paths.ts';
import { type KubeObject, type Meta, now } from '../object.ts';
import { badRequest, type FieldError } from '../status-error.ts';
import { generatedName, isSubdomain, type NameCheck, qualifiedNameErrors } from './names.ts';

/** Sets the identity of a new object. Values that a client must not decide are overwritten. */
export function identify(object: KubeObject, namespace: string | undefined): void {
  refuseServerFields(object, namespace);
  const { name, generateName } = object.metadata;
  const meta = object.metadata as Partial<Meta>;
  if (!name && generateName) meta.name = generatedName(generateName);
  meta.uid = randomUUID();
  meta.creationTimestamp = now();
  for (const field of [
    'resourceVersion',
    'generation',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'managedFields',
  ] as const)
    delete meta[field];
  if (namespace === undefined) delete meta.namespace;
  else meta.namespace = namespace;
}

function refuseServerFields({ metadata }: KubeObject, namespace: string | undefined): void {
  if (metadata.resourceVersion && metadata.resourceVersion !== '0')
    throw badRequest('resourceVersion should not be set on objects to be created');
  checkNamespace(metadata, namespace);
}

function checkNamespace(metadata: Partial<Meta>, namespace: string | undefined): void {
  if (namespace !== undefined && metadata.namespace && metadata.namespace !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

/** Refuses an object whose name or namespace differs from the path. */
export function checkNameAndNamespace(
  metadata: Partial<Meta>,
  { namespace, name = '' }: Pick<RequestTarget, 'namespace' | 'name'>,
): void {
  checkNamespace(metadata, namespace);
  if (!metadata.name)
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (metadata.name !== name)
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
}

/** Restores the metadata that no update may change. */
export function keepIdentity({ metadata }: KubeObject, { metadata: old }: KubeObject): void {
  for (const field of [
    'uid',
    'creationTimestamp',
    'generation',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'managedFields',
    'generateName',
    'namespace',
    'name',
  ] as const) {
    if (old[field] === undefined) delete metadata[field];
    else Object.assign(metadata, { [field]: old[field] });
  }
}

export function metadataErrors({ metadata }: KubeObject, checkName: NameCheck = isSubdomain): readonly FieldError[] {
  const path = 'metadata.name';
  if (!metadata.name) return [{ type: 'Required', path, detail: 'name or generateName is required' }];
  const detail = checkName(metadata.name);
  const nameErrors: FieldError[] =
    detail === undefined ? [] : [{ type: 'Invalid', path, value: metadata.name, detail }];
  return [
    ...nameErrors,
    ...labelErrors(metadata.labels ?? {}),
    ...annotationErrors(metadata),
    ...ownerErrors(metadata),
  ];
}

const labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;
const labelValueDetail =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const labelErrors = (labels: Record<string, string>, path = 'metadata.labels'): readonly FieldError[] =>
  Object.entries(labels).flatMap(([key, value]): FieldError[] => {
    const details = qualifiedNameErrors(key);
    if (details.length > 0) return details.map((detail) => ({ type: 'Invalid', path, value: key, detail }));
    if (value.length > 63) return [{ type: 'Invalid', path, value, detail: 'must be no more than 63 bytes' }];
    return labelValue.test(value) ? [] : [{ type: 'Invalid', path, value, detail: labelValueDetail }];
  });

const maxAnnotationBytes = 256 * 1024;

function annotationErrors({ annotations = {} }: Meta): readonly FieldError[] {
  const size = Object.entries(annotations).reduce((total, [key, value]) => total + key.length + value.length, 0);
  if (size <= maxAnnotationBytes) return [];
  return [
    { type: 'TooLong', path: 'metadata.annotations', detail: `may not be more than ${maxAnnotationBytes} bytes` },
  ];
}

const ownerErrors = ({ ownerReferences = [] }: Meta): readonly FieldError[] => {
  const path = 'metadata.ownerReferences';
  const missing = ownerReferences.flatMap((owner, index) =>
    (['apiVersion', 'kind', 'name', 'uid'] as const)
      .filter((field) => !owner[field])
      .map(
        (field): FieldError => ({
          type: 'Invalid',
          path: `${path}[${index}].${field}`,
          value: '',
          detail: `must not be empty`,
        }),
      ),
  );
  const controllers = ownerReferences.filter(({ controller }) => controller === true);
  if (controllers.length < 2) return missing;
  const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controllers.map(({ kind, name }) => `${kind}/${name}`).join(' and ')}`;
  return [...missing, { type: 'Invalid', path, value: ownerReferences, detail }];
};
