import { EtcdFailure } from '../../etcd/errors.ts';
import type { Failure } from '../../std/failure.ts';

/** Why etcd did not answer: `why` for conditions and Events, `detail` (the error of the transport) for the log. */
export interface FailureDescription {
  readonly why: string;
  readonly detail?: string;
}

/** Describes a failed connection to etcd in plain words. Messages of etcd and of the operator are not changed. */
export function describeFailure(failure: Failure): FailureDescription {
  if (!(failure instanceof EtcdFailure) || failure.kind !== 'unreachable') return { why: failure.message };
  return { why: connectionProblem(failure), detail: failure.message };
}

function connectionProblem({ refusal, obstacle }: EtcdFailure): string {
  if (refusal !== undefined) return 'etcd answers, but has no quorum';
  switch (obstacle?.is) {
    case 'timeout':
      return 'etcd does not answer in time';
    case 'tls':
      return `the TLS handshake with etcd failed: ${obstacle.message}`;
    case 'connection':
      return 'no connection to etcd';
    case undefined:
      return 'etcd is unreachable';
    default:
      return obstacle satisfies never;
  }
}
