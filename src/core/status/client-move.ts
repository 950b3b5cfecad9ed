import type { ClientMove, ClusterWorld } from '../model/cluster.ts';
import type { Condition } from './cluster-status.ts';

const says: Readonly<Record<ClientMove, string>> = {
  'to-encryption':
    'clients are being switched to TLS: each has to use https and show a certificate, and those that do not are shut out once all members serve both ways; set acceptPlainClients to give them time',
  'to-plain':
    'clients are being switched away from TLS: each has to use http, and https is shut once all members serve both ways; put TLS back with acceptPlainClients to give them time',
  'either-way':
    'clients are served with and without TLS: move each to https with a certificate before acceptPlainClients is taken away, or to http before TLS is',
};

/** What clients have to know while they are being moved, in words of their own: it is not the cluster that is in trouble. */
export const clientsMoving = ({ clientMove }: Pick<ClusterWorld, 'clientMove'>): readonly Condition[] =>
  clientMove === undefined
    ? []
    : [{ type: 'ClientsMoving', status: 'True', reason: 'ClientsMoving', message: says[clientMove] }];
