import type { EtcdConnection } from '../../etcd/client.ts';
import { EtcdConnections } from '../../etcd/connections.ts';
import { confirmLeading } from '../../runtime/while-leading.ts';

/** Connections that ask right before a change is sent: some changes are sent after a question, or after a token was asked for. */
export const connectionsWhileLeading = (holds: (() => boolean) | undefined): EtcdConnections =>
  new EtcdConnections({ confirmChange: () => confirmLeading(holds) });

/** What only asks. A method that is not named here counts as a change, and is refused once the lease is not surely ours. */
const asking: ReadonlySet<string> = new Set([
  ...['status', 'alarms', 'hashKV', 'snapshot', 'memberList', 'linearizableRead'],
  ...['get', 'list', 'count', 'watch', 'authenticate', 'close', 'rest'],
]);

/** Asks before each change whether this operator still leads: another one may be at something else by now. */
export function whileLeadingEtcd(connection: EtcdConnection, holds: (() => boolean) | undefined): EtcdConnection {
  if (holds === undefined) return connection;
  const fenced = Object.entries(connection).map(([name, method]: [string, unknown]) => {
    if (typeof method !== 'function' || asking.has(name)) return [name, method];
    return [
      name,
      async (...options: readonly unknown[]): Promise<unknown> => {
        confirmLeading(holds);
        return Reflect.apply(method, connection, options) as unknown;
      },
    ];
  });
  return Object.fromEntries(fenced) as EtcdConnection;
}
