import type { BackupIntent } from '../../core/model/backup.ts';
import type { StorePlace } from '../../core/model/store-place.ts';
import type { EtcdAccess } from '../agents/etcd-access.ts';
import type { BackupTools } from './sources.ts';

/** Where an agent works, and with what. */
export interface Workplace {
  readonly namespace: string;
  /** The store, with the Secret that is to open it. */
  readonly place: StorePlace;
  readonly serviceAccountName: string | undefined;
}

type Home = Pick<BackupTools, 'operators'>;

/** Credentials do not leave their namespace: an agent works where those are that it needs. */
export function workplaceOf(intent: BackupIntent, { operators }: Home): Workplace {
  const { namespace, store, serviceAccountName } = intent;
  if (intent.credentials === 'own') return { namespace, place: store, serviceAccountName };
  const { secret } = operators;
  return {
    namespace: operators.namespace,
    place: { ...store, secret },
    serviceAccountName: operators.serviceAccountName,
  };
}

/** Whether an agent works in another namespace than its resource is in. */
export const isAway = (intent: BackupIntent, tools: Home): boolean =>
  workplaceOf(intent, tools).namespace !== intent.namespace;

/**
 * A name without a dot means a Service of the resource's own namespace, wherever the agent is. One with a dot may begin
 * with a pod's name or end with a namespace's, and both are tried: an endpoint that leads nowhere does no harm.
 */
export function seenFromAway(access: EtcdAccess, namespace: string): EtcdAccess {
  return { ...access, endpoints: access.endpoints.flatMap((url) => namesOf(url, namespace)) };
}

function namesOf(url: string, namespace: string): readonly string[] {
  const [, scheme = '', host = '', rest = ''] = /^(https?:\/\/)([^/:[]+)(.*)$/.exec(url) ?? [];
  const labels = host.split('.');
  const below = `${scheme}${host}.${namespace}.svc${rest}`;
  if (host === '' || labels.length > 2) return [url];
  return labels.length === 1 ? [below] : [below, url];
}
