import { nanosOf } from '../../../src/std/quantity.ts';
import { at, copy, type Fields, fieldsIn, fieldsOf, listOf, put, same, textOf } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { FieldError } from '../status-error.ts';
import { isLabel } from './names.ts';

/** The errors of a pod spec. Checks a subset of what Kubernetes checks. */
export function podSpecErrors(spec: Fields, path = 'spec'): readonly FieldError[] {
  const containers = fieldsIn(spec['containers']);
  const missing: FieldError[] =
    containers.length === 0 ? [{ type: 'Required', path: `${path}.containers`, detail: '' }] : [];
  const volumes = new Set(fieldsIn(spec['volumes']).map(({ name }) => name));
  const all = [
    ...fieldsIn(spec['initContainers']).map((one, index) => [one, `${path}.initContainers[${index}]`] as const),
    ...containers.map((one, index) => [one, `${path}.containers[${index}]`] as const),
  ];
  const policies = ['Always', 'OnFailure', 'Never'];
  const policy = spec['restartPolicy'];
  const wrongPolicy: FieldError[] = policies.includes(textOf(policy))
    ? []
    : [
        {
          type: 'NotSupported',
          path: `${path}.restartPolicy`,
          value: policy,
          detail: `supported values: ${policies.map((one) => `"${one}"`).join(', ')}`,
        },
      ];
  return [
    ...missing,
    ...all.flatMap(([container, where]) => containerErrors(container, where, volumes)),
    ...duplicateNames(all),
    ...wrongPolicy,
  ];
}

function containerErrors(container: Fields, path: string, volumes: ReadonlySet<unknown>): readonly FieldError[] {
  const { name, image } = container;
  const errors: FieldError[] = [];
  const detail = isLabel(textOf(name));
  if (!name) errors.push({ type: 'Required', path: `${path}.name`, detail: '' });
  else if (detail !== undefined) errors.push({ type: 'Invalid', path: `${path}.name`, value: name, detail });
  if (!image) errors.push({ type: 'Required', path: `${path}.image`, detail: '' });
  const mounts = fieldsIn(container['volumeMounts']).flatMap((mount, index): FieldError[] =>
    volumes.has(mount['name'])
      ? []
      : [{ type: 'NotFound', path: `${path}.volumeMounts[${index}].name`, value: mount['name'], detail: '' }],
  );
  return [...errors, ...mounts, ...resourceErrors(container, path)];
}

/** A request must not exceed its limit. */
const resourceErrors = ({ resources }: Fields, path: string): readonly FieldError[] =>
  Object.entries(fieldsOf(at(resources, 'requests'))).flatMap(([name, value]): FieldError[] => {
    const limit = at(resources, 'limits', name);
    if (limit === undefined || nanosOf(value) <= nanosOf(limit)) return [];
    const detail = `must be less than or equal to ${name} limit of ${textOf(limit)}`;
    return [{ type: 'Invalid', path: `${path}.resources.requests`, value, detail }];
  });

function duplicateNames(all: readonly (readonly [Fields, string])[]): readonly FieldError[] {
  const seen = new Set<unknown>();
  return all.flatMap(([{ name }, path]): FieldError[] => {
    const isSeen = seen.has(name);
    seen.add(name);
    return isSeen ? [{ type: 'Duplicate', path: `${path}.name`, value: name, detail: '' }] : [];
  });
}

const immutableDetail =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** Most of a pod's spec is immutable. */
export function podChangeErrors(pod: KubeObject, old: KubeObject): readonly FieldError[] {
  const counts = ['containers', 'initContainers'].filter(
    (list) => listOf(at(pod, 'spec', list)).length !== listOf(at(old, 'spec', list)).length,
  );
  if (counts.length > 0)
    return [
      { type: 'Forbidden', path: `spec.${counts[0] ?? ''}`, detail: 'pod updates may not add or remove containers' },
    ];
  const next = fixedPart(pod);
  return same(next, fixedPart(old)) ? [] : [{ type: 'Forbidden', path: 'spec', detail: immutableDetail }];
}

function fixedPart(pod: KubeObject): Fields {
  const spec = copy(fieldsOf(pod['spec']));
  for (const list of ['containers', 'initContainers'])
    for (const container of fieldsIn(spec[list])) delete container['image'];
  for (const field of ['activeDeadlineSeconds', 'tolerations']) put(spec, [field], undefined);
  return spec;
}
