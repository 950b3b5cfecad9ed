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
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}

function identityOf(member: Member | undefined, previous: unknown): Pick<EtcdPeerStatus, 'id' | 'role'> {
  if (member !== undefined) return { id: member.id.toString(16), role: member.role };
  const { id, role } = foundPeerStatus.parse(previous ?? {});
  return { ...(id === undefined ? {} : { id }), ...(role === undefined ? {} : { role }) };
}
