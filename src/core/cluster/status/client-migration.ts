import type { ClientMigration, ClusterWorld } from '../model/cluster.ts';
import type { ClusterCondition } from './cluster-status.ts';

const messages: Readonly<Record<ClientMigration, string>> = {
  'to-encryption':
    'client TLS is being switched on: clients must use https with a client certificate; http is refused once all members serve both; set acceptPlainClients to give clients more time',
  'to-plain':
    'client TLS is being switched off: clients must use http; https is refused once all members serve both; restore TLS with acceptPlainClients to give clients more time',
  'either-way':
    'members serve clients with and without TLS: move all clients to https with a client certificate before acceptPlainClients is removed, or to http before TLS is removed',
};

/** A condition of its own for a change of client TLS, because the cluster itself is not degraded. */
export const clientMigrationCondition = ({
  clientMigration,
}: Pick<ClusterWorld, 'clientMigration'>): readonly ClusterCondition[] =>
  clientMigration === undefined
    ? []
    : [{ type: 'ClientsMoving', status: 'True', reason: 'ClientsMoving', message: messages[clientMigration] }];
