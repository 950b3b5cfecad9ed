import { isDeepStrictEqual } from 'node:util';
import type { ReadRestore } from '../../apis/common/restore-dialect.ts';
import type { RestoreIntent } from '../../core/restore/model.ts';
import { hasEnded, type StoreProxy } from '../../core/restore/store-proxy.ts';
import { keyOf, type Pod, type Secret, type Stored } from '../../kube/object.ts';
import { secrets } from '../../kube/resource.ts';
import { unless } from '../../std/failure.ts';
import { isOwnedBy } from '../../std/owner.ts';
import { agentNamespaceIndex } from '../shared/agent-namespace.ts';
import { agentStateOf } from '../shared/agent-pods.ts';
import { readRefusal } from '../shared/operator-store.ts';
import { fetchSecret } from '../shared/secret-reader.ts';
import type { RestoreContext } from './context.ts';
import { objectRef } from './pods-and-pvcs.ts';
import { identityNameOf, storeProxyAccessSecret, storeProxyLabel, storeProxyNameFor } from './store-proxy-objects.ts';

/** Observes the store proxy of a restore. It costs reads of Secrets: see `needsStoreProxy`. */
export async function observeStoreProxy(read: ReadRestore, context: RestoreContext): Promise<StoreProxy> {
  const { intent } = read;
  const pod = storeProxyOf(intent, context);
  const refusal = readRefusal(intent.store, intent.namespace, context.operators);
  const obstacle = refusal === undefined ? await obstacleFor(pod, context) : undefined;
  const name = storeProxyNameFor(intent);
  if (pod === undefined) return { name, refusal, obstacle, pod, hasIdentity: false, access: 'unknown' };
  const mayServe = refusal === undefined && obstacle === undefined;
  const identity = mayServe ? await storeProxyIdentity(pod, context) : undefined;
  return {
    name,
    refusal,
    obstacle,
    pod: { ...objectRef(pod), ...stateOf(pod) },
    hasIdentity: identity !== undefined,
    access: await accessOf(read, accessSecretFor(read, pod, identity), context),
  };
}

/** Why no store proxy can be started. */
async function obstacleFor(pod: Stored<Pod> | undefined, context: RestoreContext): Promise<string | undefined> {
  if (typeof context.image === 'string') return context.image;
  if (!context.mayWriteSecrets) return 'the operator may not write Secrets: grant it get, create and patch for secrets';
  const { secret, namespace } = context.operators;
  if (pod !== undefined || secret === undefined) return undefined;
  if ((await fetchSecret(secret, namespace, context)) !== 'missing') return undefined;
  return `Secret "${secret}" does not exist: create it in namespace "${namespace}"`;
}

function stateOf(pod: Stored<Pod>): Pick<NonNullable<StoreProxy['pod']>, 'state' | 'why'> {
  const state = agentStateOf(pod);
  return { state: state.is, why: state.is === 'starting' ? state.why : '' };
}

/** The Secret with the certificate of the store proxy, which the Pod owns and mounts. */
export function storeProxyIdentity(pod: Stored<Pod>, context: RestoreContext): Promise<Stored<Secret> | undefined> {
  const at = { namespace: pod.metadata.namespace, name: identityNameOf(pod, context) };
  return unless('not-found', context.client.get(secrets, at), undefined);
}

/** The wanted access Secret; undefined until the store proxy runs with an address and a certificate. */
export function accessSecretFor(
  read: ReadRestore,
  pod: Stored<Pod>,
  identity: Stored<Secret> | undefined,
): Secret | undefined {
  const host = pod.status?.podIP;
  const isRunning = agentStateOf(pod).is === 'running';
  return isRunning && host !== undefined && identity !== undefined
    ? storeProxyAccessSecret(read, host, identity)
    : undefined;
}

async function accessOf(
  { intent: { uid } }: ReadRestore,
  wanted: Secret | undefined,
  { client }: RestoreContext,
): Promise<StoreProxy['access']> {
  if (wanted === undefined) return 'unknown';
  const { namespace, name } = wanted.metadata;
  const found = await unless('not-found', client.get(secrets, { namespace, name }), undefined);
  if (found === undefined) return 'outdated';
  if (!isOwnedBy(found, uid)) return 'foreign';
  return isDeepStrictEqual(found.data, wanted.data) ? 'current' : 'outdated';
}

/** The store proxy of a restore, running or not. */
export const storeProxyOf = (intent: RestoreIntent, context: RestoreContext): Stored<Pod> | undefined =>
  storeProxiesOf(keyOf(intent), context).find((pod) => restoreUidOf(pod, context) === intent.uid);

/** Store proxies of this key whose restore was deleted or is over. */
export function unneededStoreProxies(
  key: string,
  current: ReadRestore | undefined,
  context: RestoreContext,
): readonly Stored<Pod>[] {
  const uid = current === undefined || hasEnded(current.memory.phase) ? undefined : current.intent.uid;
  return storeProxiesOf(key, context).filter((pod) => restoreUidOf(pod, context) !== uid);
}

/** Store proxies of a restore. Labels are trusted in the operator's own namespace only. */
const storeProxiesOf = (key: string, context: RestoreContext): readonly Stored<Pod>[] =>
  context.caches.agents
    .by(agentNamespaceIndex, context.operators.namespace, key)
    .filter((pod) => restoreUidOf(pod, context) !== undefined);

const restoreUidOf = ({ metadata }: Stored<Pod>, { dialect }: RestoreContext): string | undefined =>
  metadata.labels?.[storeProxyLabel(dialect.group)];
