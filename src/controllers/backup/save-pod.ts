import { createHash } from 'node:crypto';
import { type AgentCall, type AgentImage, agentPod, progressPort } from '../../core/desired/agent-pod.ts';
import type { Manifest } from '../../core/desired/manifest.ts';
import type { BackupIntent, Keeper } from '../../core/model/backup.ts';
import type { StorePlace } from '../../core/model/store-place.ts';
import { limitsOf } from '../../core/plan/backup/limits.ts';
import type { ReadBackup } from '../../dialects/backup-dialect.ts';
import { sharedPrefix } from '../../storage/template.ts';
import { agentLabel, slotAnnotation } from '../agents/agent-of-pod.ts';
import { awayMarks } from '../agents/away.ts';
import { etcdMounts, etcdWords } from '../agents/etcd-access.ts';
import { type StoreAccess, storeAccess } from '../agents/store-access.ts';
import { isAway, workplaceOf } from './away.ts';
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
export function savePod({ read, slot, observed, image }: SaveRun, tools: Saver): Manifest {
  const { intent, owner } = read;
  const { namespace, place, serviceAccountName } = workplaceOf(intent, tools);
  const store = storeAccess(place, 'to-write');
  const save = { name: 'save', words: saveWords({ read, observed, store }, tools) };
  const { group } = tools.dialect;
  const away = isAway(intent, tools) ? awayMarks(group, intent) : undefined;
  return agentPod({
    name: agentName(intent, slot),
    namespace,
    labels: { app: 'etcd-backup', [agentLabel(group)]: 'backup', ...away?.labels, ...store.labels },
    annotations: { [slotAnnotation(group)]: String(slot), ...away?.annotations },
    owner: away === undefined ? owner : undefined,
    image,
    calls: [save, ...pruneCalls(intent, store)],
    mounts: [...store.mounts, ...etcdMounts(observed.access)],
    deadlineSeconds: limitsOf(intent).pod,
    serviceAccountName,
  });
}

type Saver = Pick<BackupTools, 'dialect' | 'clusters' | 'operators'>;

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

function saveWords({ read, observed, store }: Saving, tools: Saver): readonly string[] {
  const { intent, owner } = read;
  const { namespace } = intent;
  const { apiVersion } = owner;
  const { kind, name, uid } = keeperOf(read);
  const cluster = observed.cluster && { apiVersion, kind: tools.clusters.dialect.kind, namespace, ...observed.cluster };
  const about = { owner: { apiVersion, kind, namespace, name, uid }, ...(cluster === undefined ? {} : { cluster }) };
  return [
    'save',
    ...store.words,
    ...etcdWords(observed.access),
    ...(intent.times === undefined ? [] : ['--dated']),
    ...['--compression', intent.compression, '--about', JSON.stringify(about)],
    ...['--timeout', String(intent.timeoutSeconds), '--progress-port', String(progressPort)],
  ];
}

/** Whose it is in the store, where it is pruned with others of the same. */
const keeperOf = ({ intent, owner }: Pick<ReadBackup, 'intent' | 'owner'>): Keeper => intent.keptFor ?? owner;

function pruneCalls(intent: BackupIntent, store: StoreAccess): readonly AgentCall[] {
  const { keep, keptFor, uid, namespace } = intent;
  if (keep.count === undefined && keep.ageSeconds === undefined) return [];
  const limits = [
    ...(keep.count === undefined ? [] : ['--keep', String(keep.count)]),
    ...(keep.ageSeconds === undefined ? [] : ['--keep-seconds', String(keep.ageSeconds)]),
  ];
  const owner = ['--owner', keptFor?.uid ?? uid, '--owner-namespace', namespace, ...below(intent.store, namespace)];
  const timeout = ['--timeout', String(limitsOf(intent).pruning)];
  return [{ name: 'prune', words: ['prune', ...store.words, ...owner, ...limits, ...timeout] }];
}

/** Objects that one template has given their names to begin with what it says of all of them. */
const below = (place: StorePlace, namespace: string): readonly string[] =>
  'url' in place ? ['--below', sharedPrefix(place.url, namespace)] : [];
