import { servingLabel } from '../../../manifests/labels.ts';
import { type Member, type MemberPod, memberPodNamed } from '../../model/cluster.ts';
import { hasCaughtUp } from '../scale/promote-learner.ts';
import type { Verdict } from '../step.ts';
import type { UpkeepStep } from './step.ts';
import type { UpkeepRule } from './world.ts';

/**
 * Labels the members that clients may reach through the client Service: voters that are healthy and in sync. A learner
 * and a member that is about to stop lose the label. An unhealthy member keeps its label: readiness excludes it.
 */
export const keepServing: UpkeepRule = (world) => {
  const { membership, verdict, blueprint } = world;
  if (!membership.seen) return [];
  const { members } = membership.value;
  return members.flatMap((member) => {
    const memberPod = memberPodNamed(world, member.name);
    if (memberPod?.serves === undefined || memberPod.phase !== 'running' || memberPod.isForeign === true) return [];
    const wanted = shouldServe(member, members, verdict);
    return wanted === undefined || wanted === memberPod.serves
      ? []
      : labelling(memberPod, wanted, servingLabel(blueprint.naming));
  });
};

/** Undefined if the label stays as it is. */
function shouldServe(member: Member, members: readonly Member[], verdict: Verdict): boolean | undefined {
  if (member.role === 'learner') return false;
  if (verdict.is === 'wait' && verdict.withdraws === member.name) return false;
  if (isStopping(member, verdict) || member.health !== 'healthy' || !hasCaughtUp(member, members)) return undefined;
  return true;
}

const isStopping = ({ name }: Member, verdict: Verdict): boolean =>
  verdict.is === 'act' && verdict.steps.some((step) => 'name' in step && step.name === name);

function labelling({ name, uid }: MemberPod, serves: boolean, label: string): UpkeepStep {
  const why = serves ? `${name} is a healthy voter in sync` : `${name} is a learner, or is about to stop`;
  return { kind: 'label-serving', name, uid, labels: { [label]: serves ? 'true' : null }, why };
}
