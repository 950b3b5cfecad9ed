import { hashLength, TrailingHash } from './bbolt/trailing-hash.ts';
import type { Caller, CallOptions } from './call.ts';
import { EtcdFailure } from './errors.ts';
import { Maintenance } from './gen/etcd_pb.ts';

/** The time-out of a part. A busy member, or a member with a slow volume, needs long. */
const partMillis = 30_000;

/** Streams a snapshot and verifies the hash at its end. */
export async function* snapshotOf(caller: Caller, options?: CallOptions): AsyncGenerator<Uint8Array, void, undefined> {
  const check = new TrailingHash();
  for await (const { blob } of caller.stream(
    Maintenance.method.snapshot,
    {},
    { timeoutMillis: partMillis, ...options },
  )) {
    check.update(blob);
    yield blob;
  }
  if (check.matches()) return;
  const message = `the snapshot is corrupt: its last ${hashLength} bytes are not the SHA-256 of the rest`;
  throw new EtcdFailure('unreachable', message, { mayBeDone: false });
}
