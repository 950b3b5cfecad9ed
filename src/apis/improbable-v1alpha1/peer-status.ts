import type { Member } from '../../core/cluster/model/cluster.ts';
import type { PreviousPeerStatus } from '../common/dialect.ts';
import { type EtcdPeerStatus, storedPeerStatusOf } from './status.ts';

/**
 * The status of an EtcdPeer. ID and role are kept while etcd does not answer; the version is empty, as in the original.
 */
export function writePeerStatus(
  member: Member | undefined,
  { previous, generation }: PreviousPeerStatus,
): EtcdPeerStatus {
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
  const { id, role } = storedPeerStatusOf(previous);
  return { ...(id === undefined ? {} : { id }), ...(role === undefined ? {} : { role }) };
}

/**
 * Alarms stay until they are disarmed. A merge patch does not remove absent fields, so cleared alarms are an empty
 * list.
 */
function alarmsOf(member: Member | undefined, previous: unknown): Pick<EtcdPeerStatus, 'alarms'> {
  const { alarms: before } = storedPeerStatusOf(previous);
  const alarms = member === undefined ? before : member.alarms;
  return alarms === undefined || (alarms.length === 0 && before === undefined) ? {} : { alarms: [...alarms] };
}
