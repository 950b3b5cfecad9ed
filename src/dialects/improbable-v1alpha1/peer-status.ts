import type { Member } from '../../core/model/cluster.ts';
import type { SaidOfPeer } from '../dialect.ts';
import { type EtcdPeerStatus, foundPeerStatus } from './status.ts';

/** As in the original, a version that is not known is empty. Who a member is stays known while it does not answer. */
export function writePeerStatus(member: Member | undefined, { previous, generation }: SaidOfPeer): EtcdPeerStatus {
  return {
    ...identityOf(member, previous),
    serverVersion: member?.version ?? '',
    healthy: member?.health === 'healthy',
    leader: member?.leads === true,
    ...alarmsOf(member, previous),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}

function identityOf(member: Member | undefined, previous: unknown): Pick<EtcdPeerStatus, 'id' | 'role'> {
  if (member !== undefined) return { id: member.id.toString(16), role: member.role };
  const { id, role } = foundPeerStatus.parse(previous ?? {});
  return { ...(id === undefined ? {} : { id }), ...(role === undefined ? {} : { role }) };
}

/** Alarms stand until they are disarmed. A patch does not take away what is left out, so there is an empty list afterwards. */
function alarmsOf(member: Member | undefined, previous: unknown): Pick<EtcdPeerStatus, 'alarms'> {
  const { alarms: before } = foundPeerStatus.parse(previous ?? {});
  const alarms = member === undefined ? before : member.alarms;
  return alarms === undefined || (alarms.length === 0 && before === undefined) ? {} : { alarms: [...alarms] };
}
