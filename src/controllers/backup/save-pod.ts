import { createHash } from 'node:crypto';
import type { ReadBackup } from '../../apis/common/backup-dialect.ts';
import { limitsOf } from '../../core/backup/limits.ts';
import type { BackupIntent, RetentionOwner } from '../../core/backup/model.ts';
import type { StoreLocation } from '../../core/backup/store-location.ts';
import { type AgentCall, type AgentImage, agentPod, progressPort } from '../../core/manifests/agent-pod.ts';
import type { Manifest } from '../../core/manifests/manifest.ts';
import { sharedPrefix } from '../../objectstore/template.ts';
import { agentForMetadata } from '../shared/agent-namespace.ts';
import { agentLabel, scheduledAt } from '../shared/agent-pods.ts';
import { etcdArguments, etcdMounts } from '../shared/etcd-access.ts';
import { type StoreAccess, storeAccess } from '../shared/store-access.ts';
import { isInOtherNamespace, placementOf } from './agent-placement.ts';
import type { BackupContext } from './context.ts';
import type { ObservedBackup } from './observe.ts';

export interface SaveRun {
  readonly read: ReadBackup;
  readonly slot: number;
  readonly observed: ObservedBackup;
  readonly image: AgentImage;
}

/**
 * The agent Pod of one run. Its name is derived from the EtcdBackup and the time of the run, so that a second pass or a
 * second operator cannot start the same run twice.
 */
export function savePod({ read, slot, observed, image }: SaveRun, context: SaveContext): Manifest {
  const { intent, owner } = read;
  const { namespace, place, serviceAccountName } = placementOf(intent, context);
  const store = storeAccess(place, 'to-write');
  const save = { name: 'save', args: saveArguments({ read, observed, store }, context) };
  const { group } = context.dialect;
  const owning = isInOtherNamespace(intent, context) ? agentForMetadata(group, intent) : undefined;
  return agentPod({
    name: agentName(intent, slot),
    namespace,
    labels: { app: 'etcd-backup', [agentLabel(group)]: 'backup', ...owning?.labels, ...store.labels },
    annotations: { ...scheduledAt(group, slot), ...owning?.annotations },
    owner: owning === undefined ? owner : undefined,
    image,
    calls: [save, ...pruneCalls(intent, store)],
    mounts: [...store.mounts, ...etcdMounts(observed.access)],
    deadlineSeconds: limitsOf(intent).pod,
    serviceAccountName,
  });
}

type SaveContext = Pick<BackupContext, 'dialect' | 'clusters' | 'operators'>;

/** The name of the agent Pod, cut to the length of a host name. */
export function agentName({ name, uid }: Pick<BackupIntent, 'name' | 'uid'>, slot: number): string {
  const hash = createHash('sha256').update(`${uid}/${slot}`).digest('hex').slice(0, 10);
  return `${name.slice(0, 45).replace(/[^a-z0-9]+$/, '')}-save-${hash}`;
}

interface Saving {
  readonly read: ReadBackup;
  readonly observed: ObservedBackup;
  readonly store: StoreAccess;
}

function saveArguments({ read, observed, store }: Saving, context: SaveContext): readonly string[] {
  const { intent, owner } = read;
  const { namespace } = intent;
  const { apiVersion } = owner;
  const { kind, name, uid } = retentionOwnerOf(read);
  const cluster = observed.cluster && {
    apiVersion,
    kind: context.clusters.dialect.kind,
    namespace,
    ...observed.cluster,
  };
  const manifestFields = {
    owner: { apiVersion, kind, namespace, name, uid },
    ...(cluster === undefined ? {} : { cluster }),
  };
  return [
    'save',
    ...store.args,
    ...etcdArguments(observed.access),
    ...(intent.times === undefined ? [] : ['--dated']),
    ...['--compression', intent.compression, '--about', JSON.stringify(manifestFields)],
    ...['--timeout', String(intent.timeoutSeconds), '--progress-port', String(progressPort)],
  ];
}

/** The owner of the stored object. Pruning counts all objects of one owner. */
const retentionOwnerOf = ({ intent, owner }: Pick<ReadBackup, 'intent' | 'owner'>): RetentionOwner =>
  intent.keptFor ?? owner;

function pruneCalls(intent: BackupIntent, store: StoreAccess): readonly AgentCall[] {
  const { keep, keptFor, uid, namespace } = intent;
  if (keep.count === undefined && keep.ageSeconds === undefined) return [];
  const limits = [
    ...(keep.count === undefined ? [] : ['--keep', String(keep.count)]),
    ...(keep.ageSeconds === undefined ? [] : ['--keep-seconds', String(keep.ageSeconds)]),
  ];
  const owner = [
    '--owner',
    keptFor?.uid ?? uid,
    '--owner-namespace',
    namespace,
    ...prefixArguments(intent.store, namespace),
  ];
  const timeout = ['--timeout', String(limitsOf(intent).pruning)];
  return [{ name: 'prune', args: ['prune', ...store.args, ...owner, ...limits, ...timeout] }];
}

/** Limits pruning to the prefix that all objects of a URL template share. */
const prefixArguments = (place: StoreLocation, namespace: string): readonly string[] =>
  'url' in place ? ['--below', sharedPrefix(place.url, namespace)] : [];
