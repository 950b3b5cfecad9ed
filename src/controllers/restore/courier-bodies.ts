import { createHash, randomBytes } from 'node:crypto';
import { type AgentImage, agentPaths, agentPod, courierPort } from '../../core/desired/agent-pod.ts';
import type { Manifest } from '../../core/desired/manifest.ts';
import type { RestoreIntent } from '../../core/model/restore.ts';
import type { ReadRestore } from '../../dialects/restore-dialect.ts';
import { keyOf, type Pod, type Secret, type Stored } from '../../kube/object.ts';
import { courierFiles, courierName } from '../../storage/courier/courier-pass.ts';
import { agentLabel } from '../agents/agent-of-pod.ts';
import { awayMark } from '../agents/away.ts';
import { type StoreAccess, storeAccess } from '../agents/store-access.ts';
import type { RestoreTools } from './sources.ts';

/** On a courier: the restore it reads for, by its uid. Where that is, is said as by every agent that works away. */
export const courierMark = (group: string): string => `${group}/courier-for`;
/** On a courier: the Secret with its certificate. */
const identityAnnotation = (group: string): string => `${group}/courier-identity`;

/** Longer than a restore may take. Should no operator remove it, it ends by itself. */
const longestSeconds = 3 * 3_600;

/** In both namespaces, and nobody else's: it follows from the restore. */
export function courierNameFor({ name, uid }: Pick<RestoreIntent, 'name' | 'uid'>): string {
  const mark = createHash('sha256').update(`${uid}/courier`).digest('hex').slice(0, 10);
  return `${name.slice(0, 40).replace(/[^a-z0-9]+$/, '')}-courier-${mark}`;
}

/** How agents of a restore enter the store: by themselves, or by way of a courier that has the operator's credentials. */
export function accessFor(intent: RestoreIntent): StoreAccess {
  const own = storeAccess(intent.store, 'to-read');
  if (intent.credentials === 'own') return own;
  return {
    ...own,
    words: [...own.words, '--courier', agentPaths.courier],
    mounts: [{ path: agentPaths.courier, secret: courierNameFor(intent), optional: true }],
    labels: {},
  };
}

/** The courier itself, in the operator's namespace. It belongs to nobody there, as the restore is elsewhere. */
export function courierPod({ intent }: ReadRestore, image: AgentImage, tools: RestoreTools): Manifest {
  const { operators, dialect, randomName } = tools;
  const { group } = dialect;
  const name = courierNameFor(intent);
  const identity = randomName(name);
  const store = storeAccess({ ...intent.store, secret: operators.secret }, 'to-read');
  const words = ['carry', ...store.words, '--identity', agentPaths.courier, '--port', String(courierPort)];
  return agentPod({
    ...{ name, namespace: operators.namespace, image, owner: undefined, restarts: true },
    labels: { app: 'etcd-courier', [agentLabel(group)]: 'restore', [courierMark(group)]: intent.uid, ...store.labels },
    annotations: { [awayMark(group)]: keyOf(intent), [identityAnnotation(group)]: identity },
    calls: [{ name: 'carry', words }],
    mounts: [...store.mounts, { path: agentPaths.courier, secret: identity }],
    deadlineSeconds: longestSeconds,
    serviceAccountName: operators.serviceAccountName,
  });
}

export const identityNameOf = ({ metadata }: Stored<Pod>, { dialect }: RestoreTools): string =>
  metadata.annotations?.[identityAnnotation(dialect.group)] ?? metadata.name;

type Files = Readonly<Record<string, string>>;

/** Who the courier is, and what it asks for. It goes with the courier. */
export async function identitySecret(pod: Stored<Pod>, tools: RestoreTools): Promise<Secret> {
  const { makeAuthority } = await import('../../std/pki.ts');
  const now = tools.now().getTime();
  const valid = { notBefore: new Date(now - 3_600_000), notAfter: new Date(now + 2 * longestSeconds * 1000) };
  const authority = await makeAuthority(pod.metadata.name, valid);
  const { certificate, key } = await authority.issue({ commonName: courierName, dns: [courierName], valid });
  const owner = { apiVersion: 'v1', kind: 'Pod', name: pod.metadata.name, uid: pod.metadata.uid };
  return secretOf(
    { name: identityNameOf(pod, tools), namespace: pod.metadata.namespace ?? '', owner, group: tools.dialect.group },
    {
      [courierFiles.certificate]: certificate,
      [courierFiles.key]: key,
      [courierFiles.authority]: authority.certificate,
      [courierFiles.token]: randomBytes(32).toString('base64url'),
    },
  );
}

interface Place {
  readonly name: string;
  readonly namespace: string;
  /** The API group of the restore. */
  readonly group: string;
  readonly owner: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string };
}

const secretOf = ({ name, namespace, group, owner }: Place, files: Files): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace, labels: { [agentLabel(group)]: 'restore' }, ownerReferences: [owner] },
  type: 'Opaque',
  data: Object.fromEntries(
    Object.entries(files).map(([file, content]) => [file, Buffer.from(content).toString('base64')]),
  ),
});

/** What those need who read through it: where it is, whom to believe, and the token. It belongs to the restore. */
export function passSecret({ intent, owner }: ReadRestore, host: string, identity: Secret): Secret {
  const address = `${host.includes(':') ? `[${host}]` : host}:${courierPort}`;
  const { data = {} } = identity;
  const shared = [courierFiles.authority, courierFiles.token].map((file) => [file, textIn(data[file])] as const);
  const [group = ''] = owner.apiVersion.split('/');
  return secretOf(
    { name: courierNameFor(intent), namespace: intent.namespace, owner, group },
    { [courierFiles.address]: address, ...Object.fromEntries(shared) },
  );
}

const textIn = (base64 = ''): string => Buffer.from(base64, 'base64').toString();
