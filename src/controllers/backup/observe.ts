import type { Agent } from '../../core/model/agent.ts';
import type { BackupIntent, BackupWorld } from '../../core/model/backup.ts';
import { dueSlot } from '../../core/plan/backup/plan-backup.ts';
import type { ReadBackup } from '../../dialects/backup-dialect.ts';
import { isAbsentOrUndefined } from '../../kube/errors.ts';
import { keyOf, type Pod, type Stored } from '../../kube/object.ts';
import { Failure } from '../../std/failure.ts';
import { agentOf } from '../agents/agent-of-pod.ts';
import { askProgress } from '../agents/ask-progress.ts';
import { accessTo, type EtcdAccess } from '../agents/etcd-access.ts';
import { refusalOf } from '../agents/operators-store.ts';
import { fetchSecret } from '../cluster/fetch-secret.ts';
import { withStatus } from '../cluster/publish.ts';
import { ownerIndex } from '../cluster/sources.ts';
import { isAway, seenFromAway, workplaceOf } from './away.ts';
import { refusalOfBackupVolume } from './member-claims.ts';
import type { BackupTools } from './sources.ts';

/** What a pass over a backup knows. */
export interface ObservedBackup {
  readonly world: BackupWorld;
  readonly access: EtcdAccess;
  /** The cluster as it was asked for, where the backup names one. */
  readonly cluster?: { readonly spec: Readonly<Record<string, unknown>>; readonly name: string };
}

const nowhere: EtcdAccess = { endpoints: [] };

export async function observeBackup({ intent, memory }: ReadBackup, tools: BackupTools): Promise<ObservedBackup> {
  const agents = await agentsOf(intent, tools);
  const known = { now: tools.now().getTime(), intent, memory, agents };
  // What is missing matters only to a run that could begin now.
  if (dueSlot(known) === undefined || agents.some(({ slot }) => slot > (memory.lastSlot ?? -1)))
    return { world: { ...known, obstacle: undefined }, access: nowhere };
  const found = await findSource(intent, tools);
  if (typeof found === 'string') return { world: { ...known, obstacle: found }, access: nowhere };
  return { world: { ...known, obstacle: await obstacleTo(intent, found.access, tools) }, ...found };
}

async function agentsOf(intent: BackupIntent, tools: BackupTools): Promise<readonly Agent[]> {
  const found = agentPodsOf(intent, tools);
  const overdue = tools.terminating.overdue(keyOf(intent), found);
  const agents = await Promise.all(found.map((pod) => agentAt(pod, tools)));
  return agents.map((agent) => ({ ...agent, isOverdue: overdue.has(agent.uid) }));
}

/** An agent that works is asked how far it is. */
async function agentAt(pod: Stored<Pod>, tools: BackupTools): Promise<Agent> {
  const agent = agentOf(pod, tools.dialect.group);
  return agent.state.is === 'running'
    ? { ...agent, state: { is: 'running', progress: await askProgress(pod, tools) } }
    : agent;
}

/** Agents are in the namespace of their resource, or with the operator's credentials in the operator's own. */
export function agentPodsOf(intent: BackupIntent, { caches, operators }: BackupTools): readonly Stored<Pod>[] {
  const namespaces = new Set([intent.namespace, operators.namespace]);
  return [...namespaces].flatMap((namespace) => caches.agents.by(ownerIndex, namespace, intent.uid));
}

type Found = Omit<ObservedBackup, 'world'>;

/** How to reach what is to be saved; a sentence where that cannot be told yet. */
async function findSource(intent: BackupIntent, tools: BackupTools): Promise<Found | string> {
  const { source, namespace } = intent;
  if ('endpoints' in source) return { access: isAway(intent, tools) ? seenFromAway(source, namespace) : source };
  const { dialect, resource } = tools.clusters;
  const name = source.cluster;
  const object = await tools.client.get(resource, { namespace, name }).catch((thrown: unknown) => {
    const { kind, message } = Failure.from(thrown);
    if (isAbsentOrUndefined(thrown)) return `there is no ${dialect.kind} "${name}" in this namespace`;
    if (kind === 'forbidden') return message;
    throw thrown;
  });
  if (typeof object === 'string') return object;
  const read = dialect.read(withStatus(object, { dialect: resource }));
  if (!read.ok) return `${dialect.kind} "${name}" has a spec that makes no sense`;
  const access = accessTo(read.value);
  if (access.endpoints.length === 0) return `${dialect.kind} "${name}" has no members yet`;
  return { access, cluster: { name, spec: object.spec as Readonly<Record<string, unknown>> } };
}

async function obstacleTo(intent: BackupIntent, access: EtcdAccess, tools: BackupTools): Promise<string | undefined> {
  if (typeof tools.image === 'string') return tools.image;
  const { operators } = tools;
  const refusal = intent.credentials === 'operators' ? refusalOf(intent.store, intent.namespace, operators) : undefined;
  const { namespace, place } = workplaceOf(intent, tools);
  const ofClaim = await refusalOfBackupVolume(place, namespace, tools);
  return refusal ?? ofClaim ?? closedFromAway(intent, access, tools) ?? missingSecret(intent, access, tools);
}

/** What opens etcd stays in its namespace, and what opens the store in the operator's: no pod can have both. */
function closedFromAway(
  intent: BackupIntent,
  { tlsSecret, userSecret }: EtcdAccess,
  tools: BackupTools,
): string | undefined {
  const secret = tlsSecret ?? userSecret;
  if (secret === undefined || !isAway(intent, tools)) return undefined;
  return (
    `etcd is entered with Secret "${secret}", which does not leave this namespace, and the operator's credentials for ` +
    'the store do not come here: name a Secret or a serviceAccountName of this namespace for the store'
  );
}

async function missingSecret(
  intent: BackupIntent,
  { tlsSecret, userSecret }: EtcdAccess,
  tools: BackupTools,
): Promise<string | undefined> {
  const { namespace, place } = workplaceOf(intent, tools);
  for (const name of [place.secret, tlsSecret, userSecret]) {
    if (name !== undefined && (await fetchSecret(name, namespace, tools)) === 'missing')
      return `Secret "${name}" is not there: create it in namespace "${namespace}"`;
  }
  return undefined;
}
