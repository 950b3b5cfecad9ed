import { type ClusterWorld, carrierNamed } from '../../core/model/cluster.ts';
import type { CarrierName } from '../../core/model/names.ts';
import { knownVoters } from '../../core/plan/cluster/formed-unseen.ts';
import { type Verdict, waitForPerson } from '../../core/plan/cluster/step.ts';
import { keyOf } from '../../kube/object.ts';
import { pods } from '../../kube/resource.ts';
import { Failure } from '../../std/failure.ts';
import { isLost, isOwnedBy } from './carriers.ts';
import { lookUp } from './deed.ts';
import { doesNotGo, isAboutToGo, isOverdue } from './former-cluster.ts';
import { type Asking, giveLabelsBack, giveToOwnDisk, podPart, told } from './lost-labels.ts';
import { claimsOnServer } from './member-claim.ts';
import type { Observed } from './observe.ts';
import type { Tools } from './sources.ts';
import { ToldFailure } from './trouble.ts';

/**
 * Fails unless the API server itself says that there is no pod of this name. Copies show only what has our labels: a pod of
 * ours from which somebody has taken them gets them back, and of somebody else's it is told that it stands in the way.
 */
export async function confirmAbsence(name: CarrierName, asking: Asking): Promise<void> {
  const pod = await lookUp(pods, name, asking);
  if (pod === undefined) return;
  if (isOwnedBy(pod.metadata, asking.blueprint.intent.uid)) {
    const givenBack = await giveLabelsBack(podPart(pod), asking);
    if (givenBack !== undefined) throw new ToldFailure('rejected', givenBack);
    throw new Failure('conflict', `the pod of ${name} is there after all`); // a copy is late
  }
  if (isOverdue(pod, asking)) throw told('NameTaken', doesNotGo('Pod', name), asking);
  if (isAboutToGo(pod, asking)) throw new Failure('conflict', `Pod ${name} of another cluster of this name is going`);
  const says = `Pod ${name} has the name of a member and does not belong to this cluster: delete it, or make the cluster its owner again`;
  throw told('NameTaken', says, asking);
}

/** A copy may be late, and what it does not show may be there: before a disk is given up, the API server is asked itself. */
export async function confirmDiskIsLost(name: CarrierName, asking: Asking): Promise<void> {
  const there = await claimsOnServer(name, asking);
  const claim = there.find((each) => each.metadata.deletionTimestamp === undefined && !isLost(each));
  if (claim === undefined) return;
  const givenBack = await giveToOwnDisk(claim, asking);
  throw givenBack === undefined
    ? new Failure('conflict', `the disk of ${name} is there after all`)
    : new ToldFailure('rejected', givenBack);
}

/** Before it is said that a majority has lost its data, the API server is asked itself for what no copy shows of it. */
export async function unlessHidden(verdict: Verdict, observed: Observed, tools: Tools): Promise<Verdict> {
  if (verdict.is !== 'wait' || verdict.reason !== 'QuorumLost') return verdict;
  const { world, blueprint } = observed;
  const writer = tools.writer(keyOf(blueprint.intent));
  const asking = { blueprint, observed, tools, writer, signal: AbortSignal.timeout(30_000) };
  const asked = knownVoters(world).map((name) => hiddenOf(name, world, asking));
  const [first] = (await Promise.all(asked)).flatMap((said) => said ?? []);
  if (first === undefined) return verdict;
  return waitForPerson('NoContact', first); // and so asked for seldom; that one is back is an event
}

async function hiddenOf(name: CarrierName, world: ClusterWorld, asking: Asking): Promise<string | undefined> {
  const carrier = carrierNamed(world, name);
  if (carrier !== undefined && carrier.disk !== 'lost') return undefined;
  const looking = carrier === undefined ? confirmAbsence(name, asking) : Promise.resolve();
  return await looking.then(() => revealDisks(name, asking)).catch((thrown: unknown) => Failure.from(thrown).message);
}

/** Says what the disk of a member had lost, if there is one that copies do not show and it is this cluster's. */
async function revealDisks(name: CarrierName, asking: Asking): Promise<string | undefined> {
  for (const claim of await claimsOnServer(name, asking)) {
    const says = await giveToOwnDisk(claim, asking);
    if (says !== undefined) return says;
  }
  return undefined;
}
