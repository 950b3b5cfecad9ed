import { EtcdConnections } from '../../etcd/connections.ts';
import { confirmLeading } from '../../runtime/while-leading.ts';

/** Connections that ask right before a change is sent: some changes are sent after a question, or after a token was asked for. */
export const connectionsWhileLeading = (holds: (() => boolean) | undefined): EtcdConnections =>
  new EtcdConnections({ confirmChange: () => confirmLeading(holds) });
