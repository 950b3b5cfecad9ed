import type { V1Container, V1EnvFromSource, V1EnvVarSource } from '@kubernetes/client-node';
import type { Json, Pod } from '../../../src/kube/object.ts';
import { Failure } from '../../../src/std/failure.ts';
import { expand } from './expand.ts';
import { fieldOf, resourceFieldOf } from './fields.ts';

export type ContainerSpec = Json<V1Container>;

/** Reads the ConfigMaps and Secrets that environment variables refer to. */
export interface Lookup {
  /** The data of a ConfigMap or Secret; `undefined` if it does not exist. */
  readonly data: (kind: 'configMap' | 'secret', name: string) => Promise<Readonly<Record<string, string>> | undefined>;
}

interface ContainerContext {
  readonly pod: Pod;
  readonly container: ContainerSpec;
  readonly lookup: Lookup;
}

/** The environment variables from a container's spec. Read at every start. */
export async function environmentOf(context: ContainerContext): Promise<Readonly<Record<string, string>>> {
  const { env = [], envFrom = [] } = context.container;
  const values: Record<string, string> = {};
  for (const source of envFrom) Object.assign(values, await variablesFrom(context, source));
  for (const { name, value = '', valueFrom } of env) {
    const found = valueFrom === undefined ? expand(value, values) : await valueOf(context, valueFrom);
    if (found !== undefined) values[name] = found;
  }
  return values;
}

/** All variables of a ConfigMap or Secret. */
async function variablesFrom(
  context: ContainerContext,
  source: Json<V1EnvFromSource>,
): Promise<Readonly<Record<string, string>>> {
  const { prefix = '', configMapRef, secretRef } = source;
  const all = {
    ...(configMapRef === undefined ? {} : await requiredData(context, 'configMap', configMapRef)),
    ...(secretRef === undefined ? {} : await requiredData(context, 'secret', secretRef)),
  };
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [`${prefix}${name}`, value]));
}

async function valueOf(context: ContainerContext, from: Json<V1EnvVarSource>): Promise<string | undefined> {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = from;
  if (fieldRef !== undefined) return fieldOf(context.pod, fieldRef.fieldPath);
  if (resourceFieldRef !== undefined) return resourceFieldOf(context.container, resourceFieldRef);
  const kind = secretKeyRef === undefined ? 'configMap' : 'secret';
  const ref = secretKeyRef ?? configMapKeyRef;
  if (ref === undefined) return undefined;
  const value = (await requiredData(context, kind, ref))[ref.key];
  if (value === undefined && ref.optional !== true)
    throw new Failure(
      'not-found',
      `couldn't find key ${ref.key} in ${kindNames[kind]} ${context.pod.metadata.namespace}/${ref.name}`,
    );
  return value;
}

const kindNames = { configMap: 'ConfigMap', secret: 'Secret' } as const;

async function requiredData(
  { lookup }: ContainerContext,
  kind: 'configMap' | 'secret',
  { name = '', optional }: { readonly name?: string; readonly optional?: boolean },
): Promise<Readonly<Record<string, string>>> {
  const data = await lookup.data(kind, name);
  if (data !== undefined || optional === true) return data ?? {};
  throw new Failure('not-found', `${kind.toLowerCase()} "${name}" not found`);
}
