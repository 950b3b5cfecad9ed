import type { MemberPod } from '../../model/cluster.ts';
import { act, type Rule, waitForUser } from '../step.ts';

/**
 * If certificates expire before certificates of a new CA are rolled out, the operator cannot reach members, and members
 * trust the new CA only after a restart. There is no quorum left to protect. All pods are recreated on their PVCs, one
 * at a time. The new certificates are rolled out once all members trust the new CA.
 */
export const replaceExpiredCertificates: Rule = ({ certificates, memberPods }) => {
  if (certificates?.haveExpired !== true || certificates.next !== 'show') return undefined;
  const late = memberPods.filter(({ phase, caHash }) => hasStarted(phase) && caHash !== certificates.caHash);
  const next = late.find(({ volume }) => volume === 'own');
  if (next !== undefined && memberPods.some(({ phase }) => phase === 'stopping' || phase === 'starting'))
    return undefined;
  if (next !== undefined)
    return act('Certificates', `recreating pod ${next.name}: its certificate has expired`, {
      kind: 'stop-member-pod',
      name: next.name,
      uid: next.uid,
    });
  return late.length === 0 ? undefined : waitForUser('InvalidSecret', message);
};

const hasStarted = (phase: MemberPod['phase']): boolean => phase === 'running' || phase === 'stuck';

const message =
  'the certificates of members have expired, and the new certificates in the Secrets are of another CA; members without a ' +
  'PVC would lose their data with the restart that this needs: put certificates of the old CA into the Secrets first';
