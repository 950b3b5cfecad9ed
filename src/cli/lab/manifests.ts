import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeClient } from '../../kube/client.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import { clusterWide, namespaced, type Resource } from '../../kube/resource.ts';
import type { Dialect } from './dialects.ts';

const examples = join(import.meta.dirname, '../../../examples');
const operatorFiles = [
  ...['', 'backup-', 'restore-'].map((of) => `coreos/etcd-${of}operator-crd.yaml`),
  ...['sa', 'role', 'rolebinding', 'deployment'].map((name) => `coreos/etcd-operator-${name}.yaml`),
];
const otherDefinitions = ['etcdclusters', 'etcdpeers'].map((name) => `improbable/crd/${name}.yaml`);
const otherRights = ['role', 'rolebinding'].map((name) => `improbable/etcd-operator-${name}.yaml`);

/** What the book has its readers create before their first cluster, and what further dialects need. */
export async function operatorManifests(dialects: readonly Dialect[]): Promise<readonly KubeObject[]> {
  const own = await read(operatorFiles);
  if (!dialects.includes('improbable')) return own;
  const others = [...(await read(otherDefinitions)), ...(await read(otherRights)).map(beside)];
  return [...others, ...own.map((object) => serving(object, dialects))];
}

/** The same Role or binding under another name: both APIs ship theirs under one, for an operator of their own. */
function beside(object: KubeObject): KubeObject {
  const name = `${object.metadata.name}-improbable`;
  const { roleRef } = object as KubeObject & { readonly roleRef?: { readonly name: string } };
  const bound = roleRef === undefined ? {} : { roleRef: { ...roleRef, name: `${roleRef.name}-improbable` } };
  return { ...object, ...bound, metadata: { ...object.metadata, name } };
}

/** The operator's Deployment, told which dialects to serve; anything else as it is. */
function serving(object: KubeObject, dialects: readonly Dialect[]): KubeObject {
  if (object.kind !== 'Deployment') return object;
  const { spec } = object as unknown as { readonly spec: DeploymentSpec };
  const containers = spec.template.spec.containers.map((container) => ({
    ...container,
    command: [...(container.command ?? []), `--dialects=${dialects.join(',')}`],
  }));
  const template = { ...spec.template, spec: { ...spec.template.spec, containers } };
  return { ...object, spec: { ...spec, template } } as KubeObject;
}

interface DeploymentSpec {
  readonly template: { readonly spec: { readonly containers: readonly { readonly command?: readonly string[] }[] } };
}

/** The book's first cluster, of the version that is asked for. */
export const exampleCluster = async (version: string): Promise<readonly KubeObject[]> =>
  (await read(['coreos/etcd-cluster-cr.yaml'])).map((object) => withVersion(object, version));

const withVersion = (object: KubeObject, version: string): KubeObject => {
  const { spec } = object as KubeObject & { readonly spec?: object };
  return { ...object, spec: { ...spec, version } } as KubeObject;
};

/** Creates what is not there yet, and says what that was. */
export async function createAll(
  client: KubeClient,
  objects: readonly KubeObject[],
  namespace: string,
): Promise<readonly KubeObject[]> {
  const created: KubeObject[] = [];
  for (const object of objects) {
    const resource = resourceOf(object);
    const metadata = { ...object.metadata, ...(resource.namespaced ? { namespace } : {}) };
    const isNew = await client.create(resource, { ...object, metadata }).then(() => true, refusesOnlyKnown);
    if (isNew) created.push(object);
  }
  return created;
}

function refusesOnlyKnown(thrown: unknown): false {
  if (isAlreadyExists(thrown)) return false;
  throw thrown;
}

const clusterKinds = new Set(['CustomResourceDefinition', 'ClusterRole', 'ClusterRoleBinding', 'Namespace']);

/** Kinds name their collections by adding an s, but for those that end in one or in y; the lab creates none of these. */
function resourceOf({ apiVersion, kind }: KubeObject): Resource<KubeObject> {
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  const name = { group, version, plural: `${kind.toLowerCase()}s`, kind };
  return clusterKinds.has(kind) ? clusterWide(name) : namespaced(name);
}

async function read(files: readonly string[]): Promise<readonly KubeObject[]> {
  const texts = await Promise.all(files.map((file) => readFile(join(examples, file), 'utf8')));
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as KubeObject));
}
