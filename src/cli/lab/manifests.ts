import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeClient } from '../../kube/client.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import { clusterWide, namespaced, type Resource } from '../../kube/resource.ts';

const examples = join(import.meta.dirname, '../../../examples/coreos');
const operatorFiles = ['crd', 'sa', 'role', 'rolebinding', 'deployment'].map((name) => `etcd-operator-${name}.yaml`);

/** What the book has its readers create before their first cluster. */
export const operatorManifests = (): Promise<readonly KubeObject[]> => read(operatorFiles);

/** The book's first cluster, of the version that is asked for. */
export const exampleCluster = async (version: string): Promise<readonly KubeObject[]> =>
  (await read(['etcd-cluster-cr.yaml'])).map((object) => withVersion(object, version));

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
