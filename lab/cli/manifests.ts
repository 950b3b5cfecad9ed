import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeClient } from '../../src/kube/client.ts';
import { isAlreadyExists } from '../../src/kube/errors.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { clusterWide, namespaced, type Resource } from '../../src/kube/resource.ts';
import { Failure } from '../../src/std/failure.ts';
import { type Dialect, exampleFiles, isDialect } from './dialects.ts';

const examples = join(import.meta.dirname, '../../examples');
const definitions: Readonly<Record<Dialect, readonly string[]>> = {
  coreos: ['', 'backup-', 'restore-'].map((of) => `coreos/etcd-${of}operator-crd.yaml`),
  improbable: ['etcdclusters', 'etcdpeers', 'etcdbackups', 'etcdbackupschedules', 'etcdrestores'].map(
    (name) => `improbable/crd/${name}.yaml`,
  ),
};
const partsOf = (dialect: Dialect, names: readonly string[]): readonly string[] =>
  names.map((name) => `${dialect}/etcd-operator-${name}.yaml`);

/** The manifests that the book's reader creates before a first cluster, and those of the other dialect. */
export async function operatorManifests(dialects: readonly Dialect[]): Promise<readonly KubeObject[]> {
  const defined = await read(dialects.flatMap((dialect) => definitions[dialect]));
  const account = await read(partsOf('coreos', ['sa']));
  const rights = await Promise.all(dialects.map(rbacFor));
  const [deployment] = await read(partsOf('coreos', ['deployment']));
  if (deployment === undefined) throw new Failure('bug', 'the example has no Deployment');
  return [...defined, ...account, ...rights.flat(), withDialects(deployment, dialects)];
}

async function rbacFor(dialect: Dialect): Promise<readonly KubeObject[]> {
  const rights = (await read(partsOf(dialect, ['role', 'rolebinding']))).map(clusterWideRole);
  return dialect === 'coreos' ? rights : rights.map(withImprobableName);
}

/**
 * The Role or RoleBinding as a cluster-wide one. A cluster in a namespace that is not served is the most common first
 * mistake.
 */
function clusterWideRole(object: KubeObject): KubeObject {
  const { roleRef } = object as KubeObject & { readonly roleRef?: { readonly kind: string } };
  const bound = roleRef === undefined ? {} : { roleRef: { ...roleRef, kind: `Cluster${roleRef.kind}` } };
  return { ...object, ...bound, kind: `Cluster${object.kind}` };
}

/** The Role or binding under another name: the manifests of both dialects use the same. */
function withImprobableName(object: KubeObject): KubeObject {
  const name = `${object.metadata.name}-improbable`;
  const { roleRef } = object as KubeObject & { readonly roleRef?: { readonly name: string } };
  const bound = roleRef === undefined ? {} : { roleRef: { ...roleRef, name: `${roleRef.name}-improbable` } };
  return { ...object, ...bound, metadata: { ...object.metadata, name } };
}

/** The operator's Deployment with flags for all namespaces and for its dialects. Without a flag it serves coreos. */
export function withDialects(object: KubeObject, dialects: readonly Dialect[]): KubeObject {
  const isDefault = dialects.join(',') === 'coreos';
  const flags = [allNamespaces, ...allowEverything, ...(isDefault ? [] : [`--dialects=${dialects.join(',')}`])];
  const { spec } = object as unknown as { readonly spec: DeploymentSpec };
  const containers = spec.template.spec.containers.map((container) => ({
    ...container,
    command: [...(container.command ?? []).filter((word) => isOtherFlag(word) && !flags.includes(word)), ...flags],
  }));
  const template = { ...spec.template, spec: { ...spec.template.spec, containers } };
  return { ...object, spec: { ...spec, template } } as KubeObject;
}

const allNamespaces = '--namespaces=*';

/** The lab has one user, so its operator restricts no spec. */
const allowEverything = ['value-from', 'repositories', 'service-accounts', 'uids'].map((what) => `--allowed-${what}=*`);

/** True if the operator of a Deployment serves all namespaces. */
export const servesAllNamespaces = (object: KubeObject): boolean => wordsOf(object).includes(allNamespaces);

const isOtherFlag = (word: string): boolean => !word.startsWith('--dialects=');

/** The dialects that the operator of a Deployment serves. */
export function dialectsOf(object: KubeObject): readonly Dialect[] {
  const flag = wordsOf(object)
    .find((word) => !isOtherFlag(word))
    ?.split('=')[1];
  return flag === undefined ? ['coreos'] : flag.split(',').filter(isDialect);
}

function wordsOf(object: KubeObject): readonly string[] {
  const { spec } = object as unknown as { readonly spec: DeploymentSpec };
  return spec.template.spec.containers.flatMap(({ command = [] }) => command);
}

interface DeploymentSpec {
  readonly template: { readonly spec: { readonly containers: readonly { readonly command?: readonly string[] }[] } };
}

/** The first cluster of a dialect, with the requested version. */
export async function exampleCluster(dialect: Dialect, version: string): Promise<KubeObject> {
  const [cluster, ...rest] = await read([exampleFiles[dialect]]);
  if (cluster === undefined || rest.length > 0) throw new Failure('bug', 'the example is not one cluster');
  return withVersion(cluster, version);
}

const withVersion = (object: KubeObject, version: string): KubeObject => {
  const { spec } = object as KubeObject & { readonly spec?: object };
  return { ...object, spec: { ...spec, version } } as KubeObject;
};

/** Creates the objects that do not exist; returns them. */
export async function createAll(
  client: KubeClient,
  objects: readonly KubeObject[],
  namespace: string,
): Promise<readonly KubeObject[]> {
  const created: KubeObject[] = [];
  for (const object of objects) {
    const resource = resourceOf(object);
    const metadata = { ...object.metadata, ...(resource.namespaced ? { namespace } : {}) };
    const isNew = await client.create(resource, { ...object, metadata }).then(() => true, ignoreExisting);
    if (isNew) created.push(object);
  }
  return created;
}

/** Applies the objects of this version: an operator cannot work with an older Role or older definitions. */
export async function applyAll(client: KubeClient, objects: readonly KubeObject[], namespace: string): Promise<void> {
  for (const object of objects) {
    const resource = resourceOf(object);
    const at = { ...(resource.namespaced ? { namespace } : {}), name: object.metadata.name };
    const body = { ...object, metadata: { ...object.metadata, ...at } };
    await client.patch(resource, at, { type: 'apply', body, force: true });
  }
}

function ignoreExisting(thrown: unknown): false {
  if (isAlreadyExists(thrown)) return false;
  throw thrown;
}

const clusterKinds = new Set(['CustomResourceDefinition', 'ClusterRole', 'ClusterRoleBinding', 'Namespace']);

/** Derives the resource from a kind by adding an s. This holds for all kinds that the lab creates. */
function resourceOf({ apiVersion, kind }: KubeObject): Resource<KubeObject> {
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  const name = { group, version, plural: `${kind.toLowerCase()}s`, kind };
  return clusterKinds.has(kind) ? clusterWide(name) : namespaced(name);
}

async function read(files: readonly string[]): Promise<readonly KubeObject[]> {
  const texts = await Promise.all(files.map((file) => readFile(join(examples, file), 'utf8')));
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as KubeObject));
}
