import { type CarrierName, carrierNamed } from '../../core/model/cluster.ts';
import { type Verdict, waitForPerson } from '../../core/plan/cluster/step.ts';
import type { Reason } from '../../core/reasons.ts';
import { keyOf, type Pod, type Stored } from '../../kube/object.ts';
import { pods } from '../../kube/resource.ts';
import { Failure } from '../../std/failure.ts';
import { isOwnedBy } from './carriers.ts';
import { type Deed, lookUp } from './deed.ts';
import { isAboutToGo } from './make-claim.ts';
import type { Observed } from './observe.ts';
import type { Tools } from './sources.ts';

type Asking = Pick<Deed, 'blueprint' | 'tools' | 'writer' | 'signal'>;

/**
 * Fails unless the API server itself says that there is no pod of this name. Copies show only what has our labels: a pod of
 * ours from which somebody has taken them gets them back, and of somebody else's it is told that it stands in the way.
 */
export async function confirmAbsence(name: CarrierName, asking: Asking): Promise<void> {
  const pod = await lookUp(pods, name, asking);
  if (pod === undefined) return;
  if (isOwnedBy(pod.metadata, asking.blueprint.intent.uid)) {
    await putLabelsBack(pod, asking);
    throw new Failure('conflict', `the pod of ${name} is there after all`);
  }
  if (isAboutToGo(pod, asking)) throw new Failure('conflict', `Pod ${name} of another cluster of this name is going`);
  const says = `Pod ${name} has the name of a member and does not belong to this cluster: delete it, or make the cluster its owner again`;
  throw told('NameTaken', says, asking);
}

/** That they were put back is a failure too: where something takes them away each time, it is waited longer each time. */
async function putLabelsBack({ metadata }: Stored<Pod>, asking: Asking): Promise<void> {
  const { uid, name, labels: there = {} } = metadata;
  const { clusterLabels, memberLabel } = asking.blueprint.naming;
  const wanted = Object.entries({ ...clusterLabels, [memberLabel]: name });
  const lost = wanted.filter(([label, value]) => there[label] !== value);
  if (lost.length === 0) return; // a copy is late
  const says = `Pod ${name} had lost labels by which it is found (${lost.map((each) => each.join('=')).join(', ')})`;
  const body = { metadata: { uid, labels: Object.fromEntries(lost) } };
  await asking.writer.patch(pods, metadata, { type: 'merge', body, signal: asking.signal }).catch((thrown: unknown) => {
    const { kind, message } = Failure.from(thrown);
    if (kind !== 'rejected' && kind !== 'forbidden') throw thrown; // it is another by now, or there is none
    throw told('LabelsLost', `${says}, which cannot be put back: ${message}`, asking);
  });
  throw told('LabelsLost', `${says}: they were put back`, asking);
}

function told(reason: Reason, message: string, { blueprint: { intent }, tools }: Asking): Failure {
  const object = tools.caches.clusters.get(keyOf(intent));
  if (object !== undefined) tools.tell(object, { type: 'Warning', reason, message });
  return new Failure('rejected', message);
}

/** Before it is said that a majority has lost its data, the API server is asked itself for pods that no copy shows. */
export async function unlessHidden(verdict: Verdict, observed: Observed, tools: Tools): Promise<Verdict> {
  if (verdict.is !== 'wait' || verdict.reason !== 'QuorumLost') return verdict;
  const { world, blueprint } = observed;
  const writer = tools.writer(keyOf(blueprint.intent));
  const asking = { blueprint, tools, writer, signal: AbortSignal.timeout(30_000) };
  const missing = world.memory.voters.filter((name) => carrierNamed(world, name) === undefined);
  const asked = missing.map((name) => confirmAbsence(name, asking).catch((thrown: unknown) => Failure.from(thrown)));
  const [first] = (await Promise.all(asked)).flatMap((failure) => failure ?? []);
  if (first === undefined) return verdict;
  return waitForPerson('NoContact', first.message); // and so asked for seldom; that one is back is an event
}
