import { type Carrier, carrierNamed, type Member } from '../../core/model/cluster.ts';
import type { CarrierName } from '../../core/model/names.ts';
import type { Step } from '../../core/plan/cluster/step.ts';
import type { EtcdMember } from '../../etcd/words.ts';
import type { Pod, Stored } from '../../kube/object.ts';
import { pods } from '../../kube/resource.ts';
import { Failure } from '../../std/failure.ts';
import { type Deed, leaderOf, lookUp } from './deed.ts';
import { confirmAbsence, confirmDiskIsLost } from './hidden-bodies.ts';
import { isReady } from './readiness.ts';

type Removal = Extract<Step, { kind: 'remove-member' }>;

/** Before a member is removed, the API server and etcd are asked themselves: a copy may be late, and things change meanwhile. */
export async function confirmRemoval({ id, name, because }: Removal, deed: Deed): Promise<void> {
  if (because === 'dead') await confirmLoss(name, deed);
  const members = await leaderOf(deed).memberList(deed);
  const { membership } = deed.observed.world;
  const planned = membership.seen ? membership.value.members : [];
  const isSame = members.length === planned.length && members.every((each) => isKnown(each, planned));
  if (members.some((each) => each.id === id) && !isSame)
    throw new Failure('conflict', `the member list has changed since the removal of ${name} was planned`);
}

/** A learner that has become a voter since changes what a majority is. */
const isKnown = ({ id, isLearner }: EtcdMember, planned: readonly Member[]): boolean =>
  planned.some((known) => known.id === id && (known.role === 'learner') === isLearner);

async function confirmLoss(name: CarrierName, deed: Deed): Promise<void> {
  const carrier = carrierNamed(deed.observed.world, name);
  if (carrier !== undefined && carrier.disk !== 'lost') return confirmDown(carrier, deed);
  if (carrier === undefined) await confirmAbsence(name, deed);
  await confirmDiskIsLost(name, deed);
}

async function confirmDown(carrier: Carrier, deed: Deed): Promise<void> {
  const at = deed.observed.podWith(carrier.uid)?.metadata.name ?? carrier.name;
  const says = doubtAbout(await lookUp(pods, at, deed), carrier);
  if (says !== undefined) throw new Failure('conflict', `the pod of ${carrier.name} is ${says}`);
}

/** Why a pod is not the unready pod that was seen. One that has been deleted since starts again on its own volume. */
function doubtAbout(pod: Stored<Pod> | undefined, { uid, phase, disk }: Carrier): string | undefined {
  if (pod === undefined) return phase !== 'gone' && disk === 'own' ? 'gone, and its volume is there' : undefined;
  if (pod.metadata.uid !== uid) return 'another by now';
  return isReady(pod) && pod.metadata.deletionTimestamp === undefined ? 'ready after all' : undefined;
}
