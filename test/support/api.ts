import { isAbsentOrUndefined, isAlreadyExists } from '../../src/kube/errors.ts';
import type { KubeObject, Pod, Stored } from '../../src/kube/object.ts';
import { namespaces, pods } from '../../src/kube/resource.ts';
import { theClient } from './kube-client.ts';
import type { Kubectl } from './kubectl.ts';
import { textOf, valuesAt } from './paths.ts';
import { targetOf } from './targets.ts';
import { created, inSeconds, waitFor } from './waits.ts';

/** The namespace of objects: a story, its kubectl or a cluster. */
export type Within = Pick<Kubectl, 'namespace'>;

/** A stored object with the fields that the caller expects. */
export type ObjectWith<T> = Stored<KubeObject> & T;

/** Reads one object, such as `secret/db-peer`. */
export async function read<T>({ namespace }: Within, target: string): Promise<ObjectWith<T>> {
  const { resource, name = '' } = targetOf(target);
  return (await (await theClient()).get(resource, { namespace, name })) as ObjectWith<T>;
}

/** Reads all objects of a kind, or with a label (`pods -l app=etcd`), sorted by name. */
export async function list<T>({ namespace }: Within, target: string): Promise<readonly ObjectWith<T>[]> {
  const { resource, labelSelector } = targetOf(target);
  const { items } = await (await theClient()).list(resource, { namespace, labelSelector });
  return items as readonly ObjectWith<T>[];
}

export const podsOf = async ({ namespace }: Within, labelSelector: string): Promise<readonly Stored<Pod>[]> =>
  (await (await theClient()).list(pods, { namespace, labelSelector })).items;

/** The names of objects, as `kubectl get -o name` prints them, without the kind. */
export const namesOf = async (within: Within, target: string): Promise<readonly string[]> =>
  (await list(within, target)).map(({ metadata }) => metadata.name);

/** The values of a field, as `kubectl get -o jsonpath` prints them: `fieldOf(kubectl, 'pods -l app=etcd', '.status.phase')`. */
export async function fieldOf(within: Within, target: string, path: string): Promise<string> {
  const objects = targetOf(target).name === undefined ? await list(within, target) : [await read(within, target)];
  return objects.flatMap((object) => valuesAt(object, path).map(textOf)).join(' ');
}

/** Changes some fields of an object, as `kubectl patch --type=merge` does. */
export async function patch({ namespace }: Within, target: string, body: object): Promise<void> {
  const { resource, name = '' } = targetOf(target);
  await (await theClient()).patch(resource, { namespace, name }, { type: 'merge', body });
}

/** Creates or updates an object, as `kubectl apply --server-side` does. */
export async function apply({ namespace }: Within, target: string, body: object): Promise<void> {
  const { resource, name = '' } = targetOf(target);
  const { group, version, kind } = resource;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const whole = { apiVersion, kind, metadata: { name }, ...body };
  await (await theClient()).patch(resource, { namespace, name }, { type: 'apply', force: true, body: whole });
}

/** Requests the deletion of an object, if it exists, and does not wait for it. */
export async function remove({ namespace }: Within, target: string): Promise<void> {
  const { resource, name = '' } = targetOf(target);
  await (await theClient()).remove(resource, { namespace, name }).catch((thrown: unknown) => {
    if (!isAbsentOrUndefined(thrown)) throw thrown;
  });
}

/** Creates a namespace, and waits until pods can be created in it. */
export async function createNamespace(name: string): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  await (await theClient()).create(namespaces, object).catch((thrown: unknown) => {
    if (!isAlreadyExists(thrown)) throw thrown;
  });
  await waitFor({ namespace: name }, 'serviceaccount/default', inSeconds(30, created));
}

/** Requests the deletion of a namespace, and does not wait for it. */
export const deleteNamespace = (name: string): Promise<void> => remove({ namespace: name }, `namespace/${name}`);
