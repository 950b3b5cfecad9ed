import { Failure, type FailureKind } from '../std/failure.ts';
import type { Explanation, StoreTrouble } from './store.ts';

const kinds: Readonly<Record<StoreTrouble, FailureKind>> = {
  'no-object': 'not-found',
  'no-bucket': 'not-found',
  denied: 'forbidden',
  'no-credentials': 'forbidden',
  unreachable: 'unreachable',
  truncated: 'unreachable',
  damaged: 'unreachable',
  full: 'unreachable',
  rejected: 'rejected',
};

const remedies: Readonly<Partial<Record<StoreTrouble, string>>> = {
  'no-bucket': 'create the bucket, or correct its name',
  denied: 'correct the credentials, or grant them read, write, list and delete',
  'no-credentials': 'name a Secret with credentials, or give the Pod a workload identity',
  damaged: 'try again; if it happens again, check the store and the network',
  full: 'free space in the store, or keep fewer backups',
};

/** The attempted operation, for messages such as `cannot read object "a/b" in bucket "c"`, and the credentials used. */
export interface StoreAttempt {
  readonly what: string;
  readonly place: string;
  readonly identity: string;
}

/** A failure of a store. The message names the bucket, the key and the credentials that were used. */
export class StoreFailure extends Failure {
  readonly trouble: StoreTrouble;
  /** Message of the store itself. */
  readonly detail: string;

  constructor({ what, place, identity }: StoreAttempt, { trouble, detail }: Explanation, cause?: unknown) {
    const remedy = remedies[trouble];
    const ending = remedy === undefined ? '' : `; ${remedy}`;
    super(kinds[trouble], `cannot ${what} in ${place}: ${detail} (credentials: ${identity})${ending}`, { cause });
    this.trouble = trouble;
    this.detail = detail;
  }
}

/** Finds an error code of a failed connection in the chain of causes. */
export function brokenConnection(thrown: unknown): Explanation | undefined {
  for (let cause = thrown; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { readonly code?: unknown };
    if (typeof code === 'string' && connectionCode.test(code))
      return { trouble: 'unreachable', detail: `no connection: ${cause.message || code} (${code})` };
    const inner: unknown = cause instanceof AggregateError ? cause.errors[0] : undefined;
    if (inner !== undefined) return brokenConnection(inner) ?? brokenConnection(cause.cause);
  }
  return undefined;
}

const connectionCode =
  /^(?:ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|EPIPE|EPROTO|ERR_SSL|ERR_TLS|ERR_STREAM_PREMATURE|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|HPE_|UND_ERR)/;

/** The failure for an HTTP status, if the error code of the provider is not specific. */
export function troubleOfStatus(status = 503): StoreTrouble {
  return troubleOf[status] ?? (status >= 500 ? 'unreachable' : 'rejected');
}

const troubleOf: Readonly<Record<number, StoreTrouble>> = {
  401: 'denied',
  403: 'denied',
  404: 'no-object',
  408: 'unreachable',
  429: 'unreachable',
  507: 'full',
};
