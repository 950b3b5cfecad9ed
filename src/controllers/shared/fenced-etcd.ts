import { EtcdConnections, type PoolSettings } from '../../etcd/connections.ts';
import { assertLeading } from '../../runtime/fenced-kube-client.ts';

/** Connections that check the lease right before each change is sent, also after the requests that precede a change. */
export const connectionsWhileLeading = (
  holds: (() => boolean) | undefined,
  settings: Pick<Partial<PoolSettings>, 'clock' | 'open'> = {},
): EtcdConnections => new EtcdConnections({ ...settings, confirmWrite: () => assertLeading(holds) });
