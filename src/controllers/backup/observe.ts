import type { BackupWorld } from '../../core/model/backup.ts';
import { dueSlot } from '../../core/plan/backup/plan-backup.ts';
import type { ReadBackup } from '../../dialects/backup-dialect.ts';
import { Failure } from '../../std/failure.ts';
import { agentOf } from '../agents/agent-of-pod.ts';
import { accessTo, type EtcdAccess } from '../agents/etcd-access.ts';
import { fetchSecret } from '../cluster/fetch-secret.ts';
import { ownerIndex } from '../cluster/sources.ts';
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
  const agents = tools.caches.agents.by(ownerIndex, intent.uid).map((pod) => agentOf(pod, tools.dialect.group));
  const known = { now: tools.now().getTime(), intent, memory, agents };
  // What is missing matters only to a run that could begin now.
  if (dueSlot(known) === undefined || agents.some(({ slot }) => slot > (memory.lastSlot ?? -1)))
    return { world: { ...known, obstacle: undefined }, access: nowhere };
  const found = await findSource({ intent, memory }, tools);
  if (typeof found === 'string') return { world: { ...known, obstacle: found }, access: nowhere };
  const obstacle = typeof tools.image === 'string' ? tools.image : await missingSecret(intent, found.access, tools);
  return { world: { ...known, obstacle }, ...found };
}

type Found = Omit<ObservedBackup, 'world'>;

/** How to reach what is to be saved; a sentence where that cannot be told yet. */
async function findSource(
  { intent }: Pick<ReadBackup, 'intent' | 'memory'>,
  tools: BackupTools,
): Promise<Found | string> {
  const { source, namespace } = intent;
  if ('endpoints' in source) return { access: source };
  const { dialect, resource } = tools.clusters;
  const name = source.cluster;
  const object = await tools.client.get(resource, { namespace, name }).catch((thrown: unknown) => {
    if (Failure.from(thrown).kind === 'not-found') return undefined;
    throw thrown;
  });
  if (object === undefined) return `there is no ${dialect.kind} "${name}" in this namespace`;
  const read = dialect.read(object);
  if (!read.ok) return `${dialect.kind} "${name}" has a spec that makes no sense`;
  const access = accessTo(read.value);
  if (access.endpoints.length === 0) return `${dialect.kind} "${name}" has no members yet`;
  return { access, cluster: { name, spec: object.spec as Readonly<Record<string, unknown>> } };
}

async function missingSecret(
  { store, namespace }: BackupWorld['intent'],
  { tlsSecret, userSecret }: EtcdAccess,
  tools: BackupTools,
): Promise<string | undefined> {
  for (const name of [store.secret, tlsSecret, userSecret]) {
    if (name !== undefined && (await fetchSecret(name, namespace, tools)) === 'missing')
      return `Secret "${name}" is not there: create it in namespace "${namespace}"`;
  }
  return undefined;
}
