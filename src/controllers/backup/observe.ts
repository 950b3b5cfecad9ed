import type { ReadBackup } from '../../apis/common/backup-dialect.ts';
import type { Agent } from '../../core/backup/agent.ts';
import type { BackupIntent, BackupWorld } from '../../core/backup/model.ts';
import { dueSlot } from '../../core/backup/plan.ts';
import { isAbsentOrUndefined } from '../../kube/errors.ts';
import { keyOf, type Pod, type Stored } from '../../kube/object.ts';
import { Failure } from '../../std/failure.ts';
import { agentOf } from '../shared/agent-pods.ts';
import { askProgress } from '../shared/agent-progress.ts';
import { ownerIndex } from '../shared/context.ts';
import { accessTo, type EtcdAccess } from '../shared/etcd-access.ts';
import { storeRefusalOf } from '../shared/operator-store.ts';
import { fetchSecret } from '../shared/secret-reader.ts';
import { withStatus } from '../shared/status-writer.ts';
import { isInOtherNamespace, placementOf, withQualifiedHosts } from './agent-placement.ts';
import type { BackupContext } from './context.ts';
import { refusalToWritePvc } from './member-claims.ts';

/** The observed state of one EtcdBackup in one pass. */
export interface ObservedBackup {
  readonly world: BackupWorld;
  readonly access: EtcdAccess;
  /** Name and spec of the source EtcdCluster, if the backup names one. */
  readonly cluster?: { readonly spec: Readonly<Record<string, unknown>>; readonly name: string };
}

const noAccess: EtcdAccess = { endpoints: [] };

export async function observeBackup({ intent, memory }: ReadBackup, context: BackupContext): Promise<ObservedBackup> {
  const agents = await agentsOf(intent, context);
  const known = { now: context.now().getTime(), intent, memory, agents };
  // Obstacles are looked up only if a run could start now.
  if (dueSlot(known) === undefined || agents.some(({ slot }) => slot > (memory.lastSlot ?? -1)))
    return { world: { ...known, obstacle: undefined }, access: noAccess };
  const found = await findSource(intent, context);
  if (typeof found === 'string') return { world: { ...known, obstacle: found }, access: noAccess };
  return { world: { ...known, obstacle: await obstacleTo(intent, found.access, context) }, ...found };
}

async function agentsOf(intent: BackupIntent, context: BackupContext): Promise<readonly Agent[]> {
  const found = agentPodsOf(intent, context);
  const overdue = context.terminating.overdue(keyOf(intent), found);
  const agents = await Promise.all(found.map((pod) => agentAt(pod, context)));
  return agents.map((agent) => ({ ...agent, isOverdue: overdue.has(agent.uid) }));
}

/** Adds the progress of a running agent. */
async function agentAt(pod: Stored<Pod>, context: BackupContext): Promise<Agent> {
  const agent = agentOf(pod, context.dialect.group);
  return agent.state.is === 'running'
    ? { ...agent, state: { is: 'running', progress: await askProgress(pod, context) } }
    : agent;
}

/** Agents with the operator's credentials run in the operator's namespace, all others in that of their EtcdBackup. */
export function agentPodsOf(intent: BackupIntent, { caches, operators }: BackupContext): readonly Stored<Pod>[] {
  const namespaces = new Set([intent.namespace, operators.namespace]);
  return [...namespaces].flatMap((namespace) => caches.agents.by(ownerIndex, namespace, intent.uid));
}

type Found = Omit<ObservedBackup, 'world'>;

/** How to reach the etcd to back up, or a message if that is not known yet. */
async function findSource(intent: BackupIntent, context: BackupContext): Promise<Found | string> {
  const { source, namespace } = intent;
  if ('endpoints' in source)
    return { access: isInOtherNamespace(intent, context) ? withQualifiedHosts(source, namespace) : source };
  const { dialect, resource } = context.clusters;
  const name = source.cluster;
  const object = await context.client.get(resource, { namespace, name }).catch((thrown: unknown) => {
    const { kind, message } = Failure.from(thrown);
    if (isAbsentOrUndefined(thrown)) return `there is no ${dialect.kind} "${name}" in this namespace`;
    if (kind === 'forbidden') return message;
    throw thrown;
  });
  if (typeof object === 'string') return object;
  const read = dialect.read(withStatus(object, { dialect: resource }));
  if (!read.ok) return `${dialect.kind} "${name}" has an invalid spec: correct it`;
  const access = accessTo(read.value);
  if (access.endpoints.length === 0) return `${dialect.kind} "${name}" has no members yet`;
  return { access, cluster: { name, spec: object.spec as Readonly<Record<string, unknown>> } };
}

async function obstacleTo(
  intent: BackupIntent,
  access: EtcdAccess,
  context: BackupContext,
): Promise<string | undefined> {
  if (typeof context.image === 'string') return context.image;
  const { operators } = context;
  const refusal =
    intent.credentials === 'operators' ? storeRefusalOf(intent.store, intent.namespace, operators) : undefined;
  const { namespace, place } = placementOf(intent, context);
  const ofClaim = await refusalToWritePvc(place, namespace, context);
  return refusal ?? ofClaim ?? etcdSecretObstacle(intent, access, context) ?? missingSecret(intent, access, context);
}

/** A Pod mounts Secrets of one namespace only: the Secret for etcd or the operator's Secret for the store, not both. */
function etcdSecretObstacle(
  intent: BackupIntent,
  { tlsSecret, userSecret }: EtcdAccess,
  context: BackupContext,
): string | undefined {
  const secret = tlsSecret ?? userSecret;
  if (secret === undefined || !isInOtherNamespace(intent, context)) return undefined;
  return (
    `no Pod can mount both Secret "${secret}" for etcd in this namespace and the operator's credentials for the store in ` +
    'its namespace: name a Secret or a serviceAccountName of this namespace for the store'
  );
}

async function missingSecret(
  intent: BackupIntent,
  { tlsSecret, userSecret }: EtcdAccess,
  context: BackupContext,
): Promise<string | undefined> {
  const { namespace, place } = placementOf(intent, context);
  for (const name of [place.secret, tlsSecret, userSecret]) {
    if (name !== undefined && (await fetchSecret(name, namespace, context)) === 'missing')
      return `Secret "${name}" does not exist: create it in namespace "${namespace}"`;
  }
  return undefined;
}
