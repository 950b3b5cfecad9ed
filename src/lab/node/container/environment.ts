import type { V1Container, V1EnvFromSource, V1EnvVarSource } from '@kubernetes/client-node';
import type { Json, Pod } from '../../../kube/object.ts';
import { Failure } from '../../../std/failure.ts';
import { expand } from './expand.ts';
import { fieldOf, resourceFieldOf } from './fields.ts';

export type ContainerSpec = Json<V1Container>;

/** Where the values of variables come from that are not written in the pod itself. */
export interface Lookup {
  /** The contents of a ConfigMap or Secret; `undefined` if there is none of that name. */
  readonly data: (kind: 'configMap' | 'secret', name: string) => Promise<Readonly<Record<string, string>> | undefined>;
}

interface Place {
  readonly pod: Pod;
  readonly container: ContainerSpec;
  readonly lookup: Lookup;
}

/** The variables a container starts with, beyond those of its image. Read again at every start. */
export async function environmentOf(place: Place): Promise<Readonly<Record<string, string>>> {
  const { env = [], envFrom = [] } = place.container;
  const values: Record<string, string> = {};
  for (const source of envFrom) Object.assign(values, await allOf(place, source));
  for (const { name, value = '', valueFrom } of env) {
    const found = valueFrom === undefined ? expand(value, values) : await valueOf(place, valueFrom);
    if (found !== undefined) values[name] = found;
  }
  return values;
}

/** All of a ConfigMap or Secret. */
async function allOf(place: Place, source: Json<V1EnvFromSource>): Promise<Readonly<Record<string, string>>> {
  const { prefix = '', configMapRef, secretRef } = source;
  const all = {
    ...(configMapRef === undefined ? {} : await needed(place, 'configMap', configMapRef)),
    ...(secretRef === undefined ? {} : await needed(place, 'secret', secretRef)),
  };
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [`${prefix}${name}`, value]));
}

async function valueOf(place: Place, from: Json<V1EnvVarSource>): Promise<string | undefined> {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = from;
  if (fieldRef !== undefined) return fieldOf(place.pod, fieldRef.fieldPath);
  if (resourceFieldRef !== undefined) return resourceFieldOf(place.container, resourceFieldRef);
  const kind = secretKeyRef === undefined ? 'configMap' : 'secret';
  const ref = secretKeyRef ?? configMapKeyRef;
  if (ref === undefined) return undefined;
  const value = (await needed(place, kind, ref))[ref.key];
  if (value === undefined && ref.optional !== true)
    throw new Failure(
      'not-found',
      `couldn't find key ${ref.key} in ${titles[kind]} ${place.pod.metadata.namespace}/${ref.name}`,
    );
  return value;
}

const titles = { configMap: 'ConfigMap', secret: 'Secret' } as const;

async function needed(
  { lookup }: Place,
  kind: 'configMap' | 'secret',
  { name = '', optional }: { readonly name?: string; readonly optional?: boolean },
): Promise<Readonly<Record<string, string>>> {
  const data = await lookup.data(kind, name);
  if (data !== undefined || optional === true) return data ?? {};
  throw new Failure('not-found', `${kind.toLowerCase()} "${name}" not found`);
}
