import { EtcdFailure } from '../../etcd/errors.ts';
import type { Failure } from '../../std/failure.ts';

/** Why etcd could not be asked: `why` for people, and `detail`, where the transport said more, for the log. */
export interface PlainWords {
  readonly why: string;
  readonly detail?: string;
}

/** Says in plain words what went wrong on the way to etcd. What etcd or the operator itself says is left as it is. */
export function plainly(failure: Failure): PlainWords {
  if (!(failure instanceof EtcdFailure) || failure.kind !== 'unreachable') return { why: failure.message };
  return { why: wordsFor(failure), detail: failure.message };
}

function wordsFor({ refusal, obstacle }: EtcdFailure): string {
  if (refusal !== undefined) return 'etcd answers, but without a majority';
  switch (obstacle?.is) {
    case 'timeout':
      return 'etcd does not answer in time';
    case 'tls':
      return `the TLS handshake with etcd failed: ${obstacle.says}`;
    case 'connection':
      return 'no connection to etcd can be made';
    case undefined:
      return 'etcd cannot be asked';
    default:
      return obstacle satisfies never;
  }
}
