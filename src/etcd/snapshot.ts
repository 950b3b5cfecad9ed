import type { Caller, CallOptions } from './call.ts';
import { EtcdFailure } from './errors.ts';
import { Maintenance } from './gen/etcd_pb.ts';
import { HashAtTheEnd, hashLength } from './hash-at-the-end.ts';

/** A member that is busy, or has a slow disk, may take its time for a part. */
const partMillis = 30_000;

/** The stream of a snapshot, checked against the hash at its end. */
export async function* snapshotOf(caller: Caller, options?: CallOptions): AsyncGenerator<Uint8Array, void, undefined> {
  const check = new HashAtTheEnd();
  for await (const { blob } of caller.stream(
    Maintenance.method.snapshot,
    {},
    { timeoutMillis: partMillis, ...options },
  )) {
    check.update(blob);
    yield blob;
  }
  if (check.matches()) return;
  const says = `the snapshot arrived damaged: its last ${hashLength} bytes are not the hash of the rest`;
  throw new EtcdFailure('unreachable', says, { mayBeDone: false });
}
