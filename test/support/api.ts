import { isAbsentOrUndefined, isAlreadyExists } from '../../src/kube/errors.ts';
import type { KubeObject, Pod, Stored } from '../../src/kube/object.ts';
import { namespaces, pods } from '../../src/kube/resource.ts';
import { theClient } from './kube-client.ts';
import type { Kubectl } from './kubectl.ts';
import { textOf, valuesAt } from './paths.ts';
import { targetOf } from './targets.ts';
import { created, inSeconds, waitFor } from './waits.ts';

/** Where objects are: a story, or its kubectl. */
export type Within = Pick<Kubectl, 'namespace'>;

/** An object with fields that the caller knows of. */
export type Shown<T> = Stored<KubeObject> & T;

/** Reads one object, such as `secret/db-peer`. */
export async function read<T>({ namespace }: Within, words: string): Promise<Shown<T>> {
  const { resource, name = '' } = targetOf(words);
  return (await (await theClient()).get(resource, { namespace, name })) as Shown<T>;
}

/** The same, or nothing where there is none. */
export const find = <T>(within: Within, words: string): Promise<Shown<T> | undefined> =>
  read<T>(within, words).catch((thrown: unknown) => {
    if (isAbsentOrUndefined(thrown)) return undefined;
    throw thrown;
  });

/** Reads all objects of a kind, or those with a label, as in `pods -l app=etcd`; in the order of their names. */
export async function list<T>({ namespace }: Within, words: string): Promise<readonly Shown<T>[]> {
  const { resource, labelSelector } = targetOf(words);
  const { items } = await (await theClient()).list(resource, { namespace, labelSelector });
  return items as readonly Shown<T>[];
}

export const podsOf = async ({ namespace }: Within, labelSelector: string): Promise<readonly Stored<Pod>[]> =>
  (await (await theClient()).list(pods, { namespace, labelSelector })).items;

/** The names of objects, as kubectl prints them with `-o name`, without the kind. */
export const namesOf = async (within: Within, words: string): Promise<readonly string[]> =>
  (await list(within, words)).map(({ metadata }) => metadata.name);

/** What fields of objects hold, as `kubectl get -o jsonpath` prints it: `shown(kubectl, 'pods -l app=etcd', '.status.phase')`. */
export async function shown(within: Within, words: string, path: string): Promise<string> {
  const objects = targetOf(words).name === undefined ? await list(within, words) : [await read(within, words)];
  return objects.flatMap((object) => valuesAt(object, path).map(textOf)).join(' ');
}

/** Changes some fields of an object, as `kubectl patch --type=merge` does. */
export async function patch({ namespace }: Within, words: string, body: object): Promise<void> {
  const { resource, name = '' } = targetOf(words);
  await (await theClient()).patch(resource, { namespace, name }, { type: 'merge', body });
}

/** Creates an object, or gives it these fields and no others of ours, as `kubectl apply --server-side` does. */
export async function apply({ namespace }: Within, words: string, body: object): Promise<void> {
  const { resource, name = '' } = targetOf(words);
  const { group, version, kind } = resource;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const whole = { apiVersion, kind, metadata: { name }, ...body };
  await (await theClient()).patch(resource, { namespace, name }, { type: 'apply', force: true, body: whole });
}

/** Asks for the deletion of an object, if it is there, and does not wait for it. */
export async function remove({ namespace }: Within, words: string): Promise<void> {
  const { resource, name = '' } = targetOf(words);
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

/** Asks for the deletion of a namespace, and does not wait until all in it is gone. */
export const deleteNamespace = (name: string): Promise<void> => remove({ namespace: name }, `namespace/${name}`);
