import type { EtcdConnections } from '../etcd/connections.ts';
import type { KeyedMemory } from '../runtime/memories.ts';

/** Connections to members as a Memory: they are closed when their resource is forgotten. */
export const connectionsOf = (etcd: EtcdConnections): KeyedMemory => ({
  get size() {
    return etcd.size;
  },
  forget: (key) => etcd.forgetAll(key),
});
