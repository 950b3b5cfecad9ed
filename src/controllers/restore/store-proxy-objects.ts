import { createHash, randomBytes } from 'node:crypto';
import type { ReadRestore } from '../../apis/common/restore-dialect.ts';
import { type AgentImage, agentPaths, agentPod, storeProxyPort } from '../../core/manifests/agent-pod.ts';
import type { Manifest } from '../../core/manifests/manifest.ts';
import type { RestoreIntent } from '../../core/restore/model.ts';
import { keyOf, type Pod, type Secret, type Stored } from '../../kube/object.ts';
import { storeProxyFiles, storeProxyName } from '../../objectstore/store-proxy/store-proxy-files.ts';
import { agentForKey } from '../shared/agent-namespace.ts';
import { agentLabel } from '../shared/agent-pods.ts';
import { type StoreAccess, storeAccess } from '../shared/store-access.ts';
import type { RestoreContext } from './context.ts';

/**
 * Label of a store proxy: the UID of its restore. Its key is in the annotation of all agents in the operator's
 * namespace.
 */
export const storeProxyLabel = (group: string): string => `${group}/store-proxy-for`;
/** Annotation of a store proxy: the Secret with its certificate. */
const identityAnnotation = (group: string): string => `${group}/store-proxy-identity`;

/** Deadline of the Pod, longer than any restore: the Pod ends even if no operator deletes it. */
const longestSeconds = 3 * 3_600;

/** Name of the store proxy Pod and of the Secret for its readers, derived from the UID of the restore. */
export function storeProxyNameFor({ name, uid }: Pick<RestoreIntent, 'name' | 'uid'>): string {
  const hash = createHash('sha256').update(`${uid}/store-proxy`).digest('hex').slice(0, 10);
  return `${name.slice(0, 40).replace(/[^a-z0-9]+$/, '')}-store-proxy-${hash}`;
}

/** How agents of a restore read the store: directly, or through a store proxy with the operator's credentials. */
export function accessFor(intent: RestoreIntent): StoreAccess {
  const own = storeAccess(intent.store, 'to-read');
  if (intent.credentials === 'own') return own;
  return {
    ...own,
    args: [...own.args, '--store-proxy', agentPaths.storeProxy],
    mounts: [{ path: agentPaths.storeProxy, secret: storeProxyNameFor(intent), optional: true }],
    labels: {},
  };
}

/** The store proxy Pod in the operator's namespace. It has no owner: the restore is in another namespace. */
export function storeProxyPod({ intent }: ReadRestore, image: AgentImage, context: RestoreContext): Manifest {
  const { operators, dialect, randomName } = context;
  const { group } = dialect;
  const name = storeProxyNameFor(intent);
  const identity = randomName(name);
  const store = storeAccess({ ...intent.store, secret: operators.secret }, 'to-read');
  const args = ['serve-store', ...store.args, '--identity', agentPaths.storeProxy, '--port', String(storeProxyPort)];
  return agentPod({
    name,
    namespace: operators.namespace,
    image,
    owner: undefined,
    restarts: true,
    labels: {
      app: 'etcd-store-proxy',
      [agentLabel(group)]: 'restore',
      [storeProxyLabel(group)]: intent.uid,
      ...store.labels,
    },
    annotations: { [agentForKey(group)]: keyOf(intent), [identityAnnotation(group)]: identity },
    calls: [{ name: 'serve-store', args }],
    mounts: [...store.mounts, { path: agentPaths.storeProxy, secret: identity }],
    deadlineSeconds: longestSeconds,
    serviceAccountName: operators.serviceAccountName,
  });
}

export const identityNameOf = ({ metadata }: Stored<Pod>, { dialect }: RestoreContext): string =>
  metadata.annotations?.[identityAnnotation(dialect.group)] ?? metadata.name;

type Files = Readonly<Record<string, string>>;

/** The Secret with the certificate and the token of the store proxy. The Pod owns it. */
export async function identitySecret(pod: Stored<Pod>, context: RestoreContext): Promise<Secret> {
  const { makeAuthority } = await import('../../std/pki.ts');
  const now = context.now().getTime();
  const valid = { notBefore: new Date(now - 3_600_000), notAfter: new Date(now + 2 * longestSeconds * 1000) };
  const authority = await makeAuthority(pod.metadata.name, valid);
  const { certificate, key } = await authority.issue({ commonName: storeProxyName, dns: [storeProxyName], valid });
  const owner = { apiVersion: 'v1', kind: 'Pod', name: pod.metadata.name, uid: pod.metadata.uid };
  return secretOf(
    {
      name: identityNameOf(pod, context),
      namespace: pod.metadata.namespace ?? '',
      owner,
      group: context.dialect.group,
    },
    {
      [storeProxyFiles.certificate]: certificate,
      [storeProxyFiles.key]: key,
      [storeProxyFiles.ca]: authority.certificate,
      [storeProxyFiles.token]: randomBytes(32).toString('base64url'),
    },
  );
}

interface SecretMetadata {
  readonly name: string;
  readonly namespace: string;
  /** The API group of the restore. */
  readonly group: string;
  readonly owner: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string };
}

const secretOf = ({ name, namespace, group, owner }: SecretMetadata, files: Files): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace, labels: { [agentLabel(group)]: 'restore' }, ownerReferences: [owner] },
  type: 'Opaque',
  data: Object.fromEntries(
    Object.entries(files).map(([file, content]) => [file, Buffer.from(content).toString('base64')]),
  ),
});

/** The Secret for agents that read through the store proxy: its address, its CA and the token. The restore owns it. */
export function storeProxyAccessSecret({ intent, owner }: ReadRestore, host: string, identity: Secret): Secret {
  const address = `${host.includes(':') ? `[${host}]` : host}:${storeProxyPort}`;
  const { data = {} } = identity;
  const shared = [storeProxyFiles.ca, storeProxyFiles.token].map((file) => [file, textIn(data[file])] as const);
  const [group = ''] = owner.apiVersion.split('/');
  return secretOf(
    { name: storeProxyNameFor(intent), namespace: intent.namespace, owner, group },
    { [storeProxyFiles.address]: address, ...Object.fromEntries(shared) },
  );
}

const textIn = (base64 = ''): string => Buffer.from(base64, 'base64').toString();
