import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeClient } from '../../kube/client.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import { clusterWide, namespaced, type Resource } from '../../kube/resource.ts';
import { Failure } from '../../std/failure.ts';
import { type Dialect, exampleFiles, isDialect } from './dialects.ts';

const examples = join(import.meta.dirname, '../../../examples');
const definitions: Readonly<Record<Dialect, readonly string[]>> = {
  coreos: ['', 'backup-', 'restore-'].map((of) => `coreos/etcd-${of}operator-crd.yaml`),
  improbable: ['etcdclusters', 'etcdpeers', 'etcdbackups', 'etcdbackupschedules', 'etcdrestores'].map(
    (name) => `improbable/crd/${name}.yaml`,
  ),
};
const partsOf = (dialect: Dialect, names: readonly string[]): readonly string[] =>
  names.map((name) => `${dialect}/etcd-operator-${name}.yaml`);

/** What the book has its readers create before their first cluster, and the same for other dialects. */
export async function operatorManifests(dialects: readonly Dialect[]): Promise<readonly KubeObject[]> {
  const defined = await read(dialects.flatMap((dialect) => definitions[dialect]));
  const account = await read(partsOf('coreos', ['sa']));
  const rights = await Promise.all(dialects.map(rightsFor));
  const [deployment] = await read(partsOf('coreos', ['deployment']));
  if (deployment === undefined) throw new Failure('bug', 'the example has no Deployment');
  return [...defined, ...account, ...rights.flat(), serving(deployment, dialects)];
}

async function rightsFor(dialect: Dialect): Promise<readonly KubeObject[]> {
  const rights = (await read(partsOf(dialect, ['role', 'rolebinding']))).map(everywhere);
  return dialect === 'coreos' ? rights : rights.map(beside);
}

/** The same Role or binding for all namespaces: a cluster in a namespace that no operator serves is the commonest first mistake. */
function everywhere(object: KubeObject): KubeObject {
  const { roleRef } = object as KubeObject & { readonly roleRef?: { readonly kind: string } };
  const bound = roleRef === undefined ? {} : { roleRef: { ...roleRef, kind: `Cluster${roleRef.kind}` } };
  return { ...object, ...bound, kind: `Cluster${object.kind}` };
}

/** The same Role or binding under another name: both APIs ship theirs under one, for an operator of their own. */
function beside(object: KubeObject): KubeObject {
  const name = `${object.metadata.name}-improbable`;
  const { roleRef } = object as KubeObject & { readonly roleRef?: { readonly name: string } };
  const bound = roleRef === undefined ? {} : { roleRef: { ...roleRef, name: `${roleRef.name}-improbable` } };
  return { ...object, ...bound, metadata: { ...object.metadata, name } };
}

/** The operator's Deployment, told to serve all namespaces, and which dialects; the book's own serves the first. */
export function serving(object: KubeObject, dialects: readonly Dialect[]): KubeObject {
  const isUsual = dialects.join(',') === 'coreos';
  const flags = [allNamespaces, ...anythingAllowed, ...(isUsual ? [] : [`--dialects=${dialects.join(',')}`])];
  const { spec } = object as unknown as { readonly spec: DeploymentSpec };
  const containers = spec.template.spec.containers.map((container) => ({
    ...container,
    command: [...(container.command ?? []).filter((word) => isNoDialects(word) && !flags.includes(word)), ...flags],
  }));
  const template = { ...spec.template, spec: { ...spec.template.spec, containers } };
  return { ...object, spec: { ...spec, template } } as KubeObject;
}

const allNamespaces = '--namespaces=*';

/** A lab has one user, so its operator restricts no spec. */
const anythingAllowed = ['value-from', 'repositories', 'service-accounts', 'uids'].map((what) => `--allowed-${what}=*`);

/** Whether the operator of a Deployment serves all namespaces. */
export const servesAllNamespaces = (object: KubeObject): boolean => wordsOf(object).includes(allNamespaces);

const isNoDialects = (word: string): boolean => !word.startsWith('--dialects=');

/** Which dialects the operator of a Deployment serves. */
export function servedBy(object: KubeObject): readonly Dialect[] {
  const told = wordsOf(object)
    .find((word) => !isNoDialects(word))
    ?.split('=')[1];
  return told === undefined ? ['coreos'] : told.split(',').filter(isDialect);
}

function wordsOf(object: KubeObject): readonly string[] {
  const { spec } = object as unknown as { readonly spec: DeploymentSpec };
  return spec.template.spec.containers.flatMap(({ command = [] }) => command);
}

interface DeploymentSpec {
  readonly template: { readonly spec: { readonly containers: readonly { readonly command?: readonly string[] }[] } };
}

/** The book's first cluster, or the talk's, of the version that is asked for. */
export async function exampleCluster(dialect: Dialect, version: string): Promise<KubeObject> {
  const [cluster, ...rest] = await read([exampleFiles[dialect]]);
  if (cluster === undefined || rest.length > 0) throw new Failure('bug', 'the example is not one cluster');
  return withVersion(cluster, version);
}

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

/** Makes what is ours what this version of the program says: an operator that is newer than its Role or its definitions cannot work. */
export async function applyAll(client: KubeClient, objects: readonly KubeObject[], namespace: string): Promise<void> {
  for (const object of objects) {
    const resource = resourceOf(object);
    const at = { ...(resource.namespaced ? { namespace } : {}), name: object.metadata.name };
    const body = { ...object, metadata: { ...object.metadata, ...at } };
    await client.patch(resource, at, { type: 'apply', body, force: true });
  }
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
