import type { BackupIntent } from '../../core/backup/model.ts';
import type { StoreLocation } from '../../core/backup/store-location.ts';
import type { EtcdAccess } from '../shared/etcd-access.ts';
import type { BackupContext } from './context.ts';

/** The namespace, store and ServiceAccount of an agent Pod. */
export interface AgentPlacement {
  readonly namespace: string;
  /** The store, with the Secret that holds its credentials. */
  readonly place: StoreLocation;
  readonly serviceAccountName: string | undefined;
}

type OperatorStoreContext = Pick<BackupContext, 'operators'>;

/** An agent Pod runs in the namespace of the credentials that it mounts: credentials are never copied. */
export function placementOf(intent: BackupIntent, { operators }: OperatorStoreContext): AgentPlacement {
  const { namespace, store, serviceAccountName } = intent;
  if (intent.credentials === 'own') return { namespace, place: store, serviceAccountName };
  const { secret } = operators;
  return {
    namespace: operators.namespace,
    place: { ...store, secret },
    serviceAccountName: operators.serviceAccountName,
  };
}

/** True if the agent Pod runs in another namespace than its EtcdBackup. */
export const isInOtherNamespace = (intent: BackupIntent, context: OperatorStoreContext): boolean =>
  placementOf(intent, context).namespace !== intent.namespace;

/**
 * Qualifies endpoints for an agent in another namespace. A host without a dot is a Service of the EtcdBackup's
 * namespace. A host with one dot is `<pod>.<service>` or `<service>.<namespace>`, so both forms are tried: a wrong
 * endpoint does no harm.
 */
export function withQualifiedHosts(access: EtcdAccess, namespace: string): EtcdAccess {
  return { ...access, endpoints: access.endpoints.flatMap((url) => qualifiedUrls(url, namespace)) };
}

function qualifiedUrls(url: string, namespace: string): readonly string[] {
  const [, scheme = '', host = '', rest = ''] = /^(https?:\/\/)([^/:[]+)(.*)$/.exec(url) ?? [];
  const labels = host.split('.');
  const qualified = `${scheme}${host}.${namespace}.svc${rest}`;
  if (host === '' || labels.length > 2) return [url];
  return labels.length === 1 ? [qualified] : [qualified, url];
}
