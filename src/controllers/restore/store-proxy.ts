import { isDeepStrictEqual } from 'node:util';
import type { ReadRestore } from '../../apis/common/restore-dialect.ts';
import type { AgentImage } from '../../core/manifests/agent-pod.ts';
import type { RestorePhase } from '../../core/restore/model.ts';
import type { RestoreVerdict } from '../../core/restore/step.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import { type KubeObject, keyOf, type Pod, type Secret, type Stored } from '../../kube/object.ts';
import { pods, type Resource, secrets } from '../../kube/resource.ts';
import { unless } from '../../std/failure.ts';
import { isOwnedBy } from '../../std/owner.ts';
import { agentNamespaceIndex } from '../shared/agent-namespace.ts';
import { agentStateOf } from '../shared/agent-pods.ts';
import { readRefusal } from '../shared/operator-store.ts';
import { fetchSecret } from '../shared/secret-reader.ts';
import type { Writer } from '../shared/writer.ts';
import type { RestoreContext } from './context.ts';
import {
  identityNameOf,
  identitySecret,
  storeProxyAccessSecret,
  storeProxyLabel,
  storeProxyPod,
} from './store-proxy-objects.ts';

/** Whether agents can read through the store proxy; if not, why. */
type ProxyState = { readonly is: 'ready' } | { readonly is: 'pending' | 'refused'; readonly message: string };

const ready: ProxyState = { is: 'ready' };
const pending = (message: string): ProxyState => ({ is: 'pending', message });
const refused = (message: string): ProxyState => ({ is: 'refused', message });

interface ProxyContext {
  readonly read: ReadRestore;
  readonly controller: RestoreContext;
  readonly writer: Writer;
}

/**
 * Keeps a store proxy running while a restore reads with the operator's credentials. Readers wait until it is ready.
 */
export async function ensureStoreProxy(verdict: RestoreVerdict, context: ProxyContext): Promise<RestoreVerdict> {
  const { intent, memory } = context.read;
  if (intent.credentials === 'own' || isOver(memory.phase) || !isReading(verdict)) return verdict;
  const proxy = await observeProxy(context);
  if (proxy.is === 'ready' || verdict.is === 'wait') return verdict;
  const { message } = proxy;
  return proxy.is === 'refused' ? { is: 'wait', message, isBlocked: true } : { is: 'wait', message };
}

const isOver = (phase: RestorePhase): boolean => phase === 'complete' || phase === 'failed';

/** True if an agent reads the store or is about to: a waiting restore may wait for a reader. */
function isReading(verdict: RestoreVerdict): boolean {
  if (verdict.is === 'wait') return verdict.isBlocked !== true;
  return verdict.is === 'act' && (verdict.step.kind === 'prove' || verdict.step.kind === 'start-seed');
}

async function observeProxy(context: ProxyContext): Promise<ProxyState> {
  const { read, controller } = context;
  const { intent } = read;
  if (typeof controller.image === 'string') return refused(controller.image);
  if (!controller.mayWriteSecrets)
    return refused('the operator may not write Secrets: grant it get, create and patch for secrets');
  const refusal = readRefusal(intent.store, intent.namespace, controller.operators);
  if (refusal !== undefined) {
    await deleteStoreProxies(keyOf(intent), undefined, controller);
    return refused(refusal);
  }
  const pod = storeProxiesOf(keyOf(intent), controller).find((each) => restoreUidOf(each, controller) === intent.uid);
  return pod === undefined ? createProxy(controller.image, context) : stateOfProxy(pod, context);
}

async function createProxy(image: AgentImage, { read, controller, writer }: ProxyContext): Promise<ProxyState> {
  const { secret, namespace } = controller.operators;
  if (secret !== undefined && (await fetchSecret(secret, namespace, controller)) === 'missing')
    return refused(`Secret "${secret}" does not exist: create it in namespace "${namespace}"`);
  const wanted = storeProxyPod(read, image, controller);
  await createIfMissing(pods, wanted as never, writer);
  return pending(`starting store proxy ${wanted.metadata.name}, which reads with the operator's credentials`);
}

async function stateOfProxy(pod: Stored<Pod>, context: ProxyContext): Promise<ProxyState> {
  const state = agentStateOf(pod);
  const identity = await identityOf(pod, context);
  if (state.is === 'ended') await remove(pod, context.writer); // the next pass creates another
  const host = pod.status?.podIP;
  if (state.is === 'running' && host !== undefined && identity !== undefined)
    return publishAccess(storeProxyAccessSecret(context.read, host, identity), context);
  const why = state.is === 'starting' && state.why !== '' ? `: ${state.why}` : '';
  return pending(`waiting for store proxy ${pod.metadata.name}, which reads with the operator's credentials${why}`);
}

/** Creates the Secret with the certificate once the Pod exists to own it. The Pod starts after that. */
async function identityOf(pod: Stored<Pod>, { controller, writer }: ProxyContext): Promise<Stored<Secret> | undefined> {
  const at = { namespace: pod.metadata.namespace, name: identityNameOf(pod, controller) };
  const found = await unless('not-found', controller.client.get(secrets, at), undefined);
  if (found === undefined) await createIfMissing(secrets, await identitySecret(pod, controller), writer);
  return found;
}

async function createIfMissing<T extends KubeObject>(resource: Resource<T>, wanted: T, writer: Writer): Promise<void> {
  await writer.create(resource, wanted).catch((thrown: unknown) => {
    if (!isAlreadyExists(thrown)) throw thrown; // it is terminating, or not in the cache yet
  });
}

async function remove(
  { metadata: { namespace, name, uid, deletionTimestamp } }: Stored<Pod>,
  writer: Writer,
): Promise<void> {
  if (deletionTimestamp !== undefined) return;
  await unless('not-found', writer.remove(pods, { namespace, name }, { preconditions: { uid } }), undefined);
}

/**
 * Writes the address and the token of the store proxy for the agents of the restore. A new store proxy changes both.
 */
async function publishAccess(wanted: Secret, { read, controller, writer }: ProxyContext): Promise<ProxyState> {
  const { namespace, name } = wanted.metadata;
  const found = await unless('not-found', controller.client.get(secrets, { namespace, name }), undefined);
  if (found === undefined) await writer.create(secrets, wanted);
  else if (!isOwnedBy(found, read.intent.uid))
    return refused(`Secret "${name}" exists and does not belong to this restore: delete it`);
  else if (!isDeepStrictEqual(found.data, wanted.data)) {
    const body = { metadata: { uid: found.metadata.uid }, data: wanted.data };
    await writer.patch(secrets, { namespace, name }, { type: 'merge', body });
  }
  return ready;
}

/** Store proxies of a restore. Labels are trusted in the operator's own namespace only. */
const storeProxiesOf = (key: string, context: RestoreContext): readonly Stored<Pod>[] =>
  context.caches.agents
    .by(agentNamespaceIndex, context.operators.namespace, key)
    .filter((pod) => restoreUidOf(pod, context) !== undefined);

const restoreUidOf = ({ metadata }: Stored<Pod>, { dialect }: RestoreContext): string | undefined =>
  metadata.labels?.[storeProxyLabel(dialect.group)];

/**
 * Deletes store proxies of a finished or deleted restore: ownerReferences do not cross namespaces. Each Pod owns its
 * Secret.
 */
export async function deleteStoreProxies(
  key: string,
  current: ReadRestore | undefined,
  context: RestoreContext,
): Promise<void> {
  const uid = current === undefined || isOver(current.memory.phase) ? undefined : current.intent.uid;
  const orphans = storeProxiesOf(key, context).filter((pod) => restoreUidOf(pod, context) !== uid);
  for (const pod of orphans) await remove(pod, context.writer(key));
}
