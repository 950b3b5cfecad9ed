import { isDeepStrictEqual } from 'node:util';
import type { AgentImage } from '../../core/desired/agent-pod.ts';
import type { RestorePhase } from '../../core/model/restore.ts';
import type { RestoreVerdict } from '../../core/plan/restore/step.ts';
import type { ReadRestore } from '../../dialects/restore-dialect.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import { type KubeObject, keyOf, type Pod, type Secret, type Stored } from '../../kube/object.ts';
import { pods, type Resource, secrets } from '../../kube/resource.ts';
import { unless } from '../../std/failure.ts';
import { stateOf } from '../agents/agent-of-pod.ts';
import { awayIndex } from '../agents/away.ts';
import { refusalToRead } from '../agents/operators-store.ts';
import { fetchSecret } from '../cluster/fetch-secret.ts';
import type { Writer } from '../cluster/writer.ts';
import { isOwnedBy } from './bodies.ts';
import { courierMark, courierPod, identityNameOf, identitySecret, passSecret } from './courier-bodies.ts';
import type { RestoreTools } from './sources.ts';

/** Whether agents can read through it; if not, why. */
type Standing = { readonly is: 'standing' } | { readonly is: 'coming' | 'refused'; readonly message: string };

const standing: Standing = { is: 'standing' };
const coming = (message: string): Standing => ({ is: 'coming', message });
const refused = (message: string): Standing => ({ is: 'refused', message });

interface Tending {
  readonly read: ReadRestore;
  readonly tools: RestoreTools;
  readonly writer: Writer;
}

/** A restore with the operator's credentials lets nobody read before a courier stands, and keeps it standing. */
export async function byCourier(verdict: RestoreVerdict, tending: Tending): Promise<RestoreVerdict> {
  const { intent, memory } = tending.read;
  if (intent.credentials === 'own' || isOver(memory.phase) || !isReading(verdict)) return verdict;
  const courier = await tend(tending);
  if (courier.is === 'standing' || verdict.is === 'wait') return verdict;
  const { message } = courier;
  return courier.is === 'refused' ? { is: 'wait', message, isBlocked: true } : { is: 'wait', message };
}

const isOver = (phase: RestorePhase): boolean => phase === 'complete' || phase === 'failed';

/** Whether somebody is about to read, or may be at it: whoever waits may wait for that. */
function isReading(verdict: RestoreVerdict): boolean {
  if (verdict.is === 'wait') return verdict.isBlocked !== true;
  return verdict.is === 'act' && (verdict.step.kind === 'prove' || verdict.step.kind === 'start-seed');
}

async function tend(tending: Tending): Promise<Standing> {
  const { read, tools } = tending;
  const { intent } = read;
  if (typeof tools.image === 'string') return refused(tools.image);
  if (!tools.keepsSecrets) return refused('the operator may not keep Secrets: grant it to get, create and patch them');
  const refusal = refusalToRead(intent.store, intent.namespace, tools.operators);
  if (refusal !== undefined) {
    await dismissCouriers(keyOf(intent), undefined, tools);
    return refused(refusal);
  }
  const pod = couriersOf(keyOf(intent), tools).find((each) => uidOn(each, tools) === intent.uid);
  return pod === undefined ? send(tools.image, tending) : lookAt(pod, tending);
}

async function send(image: AgentImage, { read, tools, writer }: Tending): Promise<Standing> {
  const { secret, namespace } = tools.operators;
  if (secret !== undefined && (await fetchSecret(secret, namespace, tools)) === 'missing')
    return refused(`Secret "${secret}" is not there: create it in namespace "${namespace}"`);
  const wanted = courierPod(read, image, tools);
  await createUnlessThere(pods, wanted as never, writer);
  return coming(`pod ${wanted.metadata.name} is to read the store with the operator's credentials`);
}

async function lookAt(pod: Stored<Pod>, tending: Tending): Promise<Standing> {
  const state = stateOf(pod);
  const identity = await identityOf(pod, tending);
  if (state.is === 'ended') await remove(pod, tending.writer); // another follows
  const host = pod.status?.podIP;
  if (state.is === 'running' && host !== undefined && identity !== undefined)
    return letIn(passSecret(tending.read, host, identity), tending);
  const why = state.is === 'starting' && state.why !== '' ? `: ${state.why}` : '';
  return coming(`pod ${pod.metadata.name}, which has the operator's credentials for the store, is not ready${why}`);
}

/** It is made when the courier is there to own it, which starts when it is. */
async function identityOf(pod: Stored<Pod>, { tools, writer }: Tending): Promise<Stored<Secret> | undefined> {
  const at = { namespace: pod.metadata.namespace, name: identityNameOf(pod, tools) };
  const found = await unless('not-found', tools.client.get(secrets, at), undefined);
  if (found === undefined) await createUnlessThere(secrets, await identitySecret(pod, tools), writer);
  return found;
}

async function createUnlessThere<T extends KubeObject>(
  resource: Resource<T>,
  wanted: T,
  writer: Writer,
): Promise<void> {
  await writer.create(resource, wanted).catch((thrown: unknown) => {
    if (!isAlreadyExists(thrown)) throw thrown; // one that is going, or that we do not see yet
  });
}

async function remove(
  { metadata: { namespace, name, uid, deletionTimestamp } }: Stored<Pod>,
  writer: Writer,
): Promise<void> {
  if (deletionTimestamp !== undefined) return;
  await unless('not-found', writer.remove(pods, { namespace, name }, { preconditions: { uid } }), undefined);
}

/** Where agents of the restore find the courier, and what they show it. Of one that was made again, both are others. */
async function letIn(wanted: Secret, { read, tools, writer }: Tending): Promise<Standing> {
  const { namespace, name } = wanted.metadata;
  const found = await unless('not-found', tools.client.get(secrets, { namespace, name }), undefined);
  if (found === undefined) await writer.create(secrets, wanted);
  else if (!isOwnedBy(found, read.intent.uid))
    return refused(`Secret "${name}" exists and does not belong to this restore: delete it`);
  else if (!isDeepStrictEqual(found.data, wanted.data)) {
    const body = { metadata: { uid: found.metadata.uid }, data: wanted.data };
    await writer.patch(secrets, { namespace, name }, { type: 'merge', body });
  }
  return standing;
}

/** Where the operator is, nobody else says whose a courier is. */
const couriersOf = (key: string, tools: RestoreTools): readonly Stored<Pod>[] =>
  tools.caches.agents.by(awayIndex, tools.operators.namespace, key).filter((pod) => uidOn(pod, tools) !== undefined);

const uidOn = ({ metadata }: Stored<Pod>, { dialect }: RestoreTools): string | undefined =>
  metadata.labels?.[courierMark(dialect.group)];

/** A courier belongs to nobody, so it is removed here when its restore is over, or gone. What it was known by goes with it. */
export async function dismissCouriers(
  key: string,
  staying: ReadRestore | undefined,
  tools: RestoreTools,
): Promise<void> {
  const uid = staying === undefined || isOver(staying.memory.phase) ? undefined : staying.intent.uid;
  const going = couriersOf(key, tools).filter((pod) => uidOn(pod, tools) !== uid);
  for (const pod of going) await remove(pod, tools.writer(key));
}
