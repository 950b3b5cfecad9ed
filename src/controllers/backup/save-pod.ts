import { createHash } from 'node:crypto';
import { type AgentCall, type AgentImage, agentPod } from '../../core/desired/agent-pod.ts';
import type { Manifest } from '../../core/desired/manifest.ts';
import type { BackupIntent } from '../../core/model/backup.ts';
import type { ReadBackup } from '../../dialects/backup-dialect.ts';
import { agentLabel, slotAnnotation } from '../agents/agent-of-pod.ts';
import { etcdMounts, etcdWords } from '../agents/etcd-access.ts';
import { type StoreAccess, storeAccess } from '../agents/store-access.ts';
import type { ObservedBackup } from './observe.ts';
import type { BackupTools } from './sources.ts';

export interface SaveRun {
  readonly read: ReadBackup;
  readonly slot: number;
  readonly observed: ObservedBackup;
  readonly image: AgentImage;
}

/**
 * The pod of one run. Its name follows from the resource and the time of the run, so that a second look, or a second
 * operator, cannot start the same run twice.
 */
export function savePod(
  { read, slot, observed, image }: SaveRun,
  tools: Pick<BackupTools, 'dialect' | 'clusters'>,
): Manifest {
  const { intent, owner } = read;
  const store = storeAccess(intent.store, 'to-write');
  const save = { name: 'save', words: saveWords({ read, observed, store }, tools) };
  const { group } = tools.dialect;
  return agentPod({
    name: agentName(intent, slot),
    namespace: intent.namespace,
    labels: { app: 'etcd-backup', [agentLabel(group)]: 'backup' },
    annotations: { [slotAnnotation(group)]: String(slot) },
    owner,
    image,
    calls: [save, ...pruneCalls(intent, store)],
    mounts: [...store.mounts, ...etcdMounts(observed.access)],
    deadlineSeconds: intent.timeoutSeconds + 120,
    serviceAccountName: intent.serviceAccountName,
  });
}

/** Short enough to be a host's name, whatever the resource is called. */
export function agentName({ name, uid }: Pick<BackupIntent, 'name' | 'uid'>, slot: number): string {
  const mark = createHash('sha256').update(`${uid}/${slot}`).digest('hex').slice(0, 10);
  return `${name.slice(0, 45).replace(/[^a-z0-9]+$/, '')}-save-${mark}`;
}

interface Saving {
  readonly read: ReadBackup;
  readonly observed: ObservedBackup;
  readonly store: StoreAccess;
}

function saveWords(
  { read, observed, store }: Saving,
  tools: Pick<BackupTools, 'dialect' | 'clusters'>,
): readonly string[] {
  const { intent, owner } = read;
  const { namespace, name, uid } = intent;
  const { apiVersion, kind } = owner;
  const cluster = observed.cluster && { apiVersion, kind: tools.clusters.dialect.kind, namespace, ...observed.cluster };
  const about = { owner: { apiVersion, kind, namespace, name, uid }, ...(cluster === undefined ? {} : { cluster }) };
  return [
    'save',
    ...store.words,
    ...etcdWords(observed.access),
    ...(intent.intervalSeconds === undefined ? [] : ['--dated']),
    ...['--compression', intent.compression, '--about', JSON.stringify(about)],
    ...['--timeout', String(intent.timeoutSeconds)],
  ];
}

function pruneCalls({ keep, uid }: BackupIntent, store: StoreAccess): readonly AgentCall[] {
  if (keep.count === undefined && keep.ageSeconds === undefined) return [];
  const limits = [
    ...(keep.count === undefined ? [] : ['--keep', String(keep.count)]),
    ...(keep.ageSeconds === undefined ? [] : ['--keep-seconds', String(keep.ageSeconds)]),
  ];
  return [{ name: 'prune', words: ['prune', ...store.words, '--owner', uid, ...limits, '--timeout', '60'] }];
}
