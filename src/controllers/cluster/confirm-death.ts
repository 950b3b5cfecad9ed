import { type Carrier, type CarrierName, carrierNamed } from '../../core/model/cluster.ts';
import type { Step } from '../../core/plan/cluster/step.ts';
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
  const isSame =
    members.length === planned.length && members.every((each) => planned.some((known) => known.id === each.id));
  if (members.some((each) => each.id === id) && !isSame)
    throw new Failure('conflict', `the member list has changed since the removal of ${name} was planned`);
}

async function confirmLoss(name: CarrierName, deed: Deed): Promise<void> {
  const carrier = carrierNamed(deed.observed.world, name);
  if (carrier !== undefined && carrier.disk !== 'lost') return confirmDown(carrier, deed);
  if (carrier === undefined) await confirmAbsence(name, deed);
  await confirmDiskIsLost(name, deed);
}

/** Its pod is the one that was seen, and still not ready. */
async function confirmDown({ name, uid, phase }: Carrier, deed: Deed): Promise<void> {
  if (phase === 'gone') return;
  const at = deed.observed.podWith(uid)?.metadata.name ?? name;
  const pod = await lookUp(pods, at, deed);
  if (pod === undefined) return;
  if (pod.metadata.uid !== uid) throw new Failure('conflict', `the pod of ${name} is another by now`);
  if (isReady(pod) && pod.metadata.deletionTimestamp === undefined)
    throw new Failure('conflict', `the pod of ${name} is ready after all`);
}
