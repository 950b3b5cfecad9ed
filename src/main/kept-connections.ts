import type { EtcdConnections } from '../etcd/connections.ts';
import type { Memory } from '../runtime/memories.ts';

/** Connections to members, as something that is remembered of the resource that they are asked for. */
export const connectionsOf = (etcd: EtcdConnections): Memory => ({
  get size() {
    return etcd.size;
  },
  forget: (key) => etcd.forgetAll(key),
});
