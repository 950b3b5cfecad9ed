import type { Carrier } from '../../model/cluster.ts';
import { act, type Rule, waitForPerson } from './step.ts';

/**
 * When certificates have expired before those of another authority came, members can be asked nothing, and learn of the new
 * authority only when they start. There is no majority left to be careful with: all are made again on their disks, one after
 * the other, and are shown the new certificates when the last one believes them.
 */
export const outliveCertificates: Rule = ({ certificates, carriers }) => {
  if (certificates?.haveExpired !== true || certificates.next !== 'show') return undefined;
  const late = carriers.filter(({ phase, believes }) => hasStarted(phase) && believes !== certificates.believed);
  const next = late.find(({ disk }) => disk === 'own');
  if (next !== undefined && carriers.some(({ phase }) => phase === 'stopping' || phase === 'starting'))
    return undefined;
  if (next !== undefined)
    return act('Certificates', `making the pod of ${next.name} again, whose certificate has expired`, {
      ...{ kind: 'stop-carrier', name: next.name, uid: next.uid },
    });
  return late.length === 0 ? undefined : waitForPerson('SecretUnfit', says);
};

const hasStarted = (phase: Carrier['phase']): boolean => phase === 'running' || phase === 'stuck';

const says =
  'the certificates that members show have expired, and those in the Secrets are of an authority of which members without a ' +
  'volume would learn only by losing their data: put certificates of the old authority into the Secrets first';
