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
  'no-bucket': 'create it, or correct its name',
  denied: 'correct them, or grant them reading, writing, listing and deleting there',
  'no-credentials': 'name a Secret that holds them, or give the pod a workload identity',
  damaged: 'try again; if it happens again, check the store and the network on the way to it',
  full: 'make room, or keep fewer backups',
};

/** What was tried: `cannot read object "a/b" of bucket "c"`, and who we were for the store. */
export interface StoreAttempt {
  readonly what: string;
  readonly place: string;
  readonly identity: string;
}

/** What goes wrong with a store, in a sentence that names bucket, key and the credentials that were used. */
export class StoreFailure extends Failure {
  readonly trouble: StoreTrouble;
  /** What the store itself said. */
  readonly says: string;

  constructor({ what, place, identity }: StoreAttempt, { trouble, says }: Explanation, cause?: unknown) {
    const remedy = remedies[trouble];
    const ending = remedy === undefined ? '' : `; ${remedy}`;
    super(kinds[trouble], `cannot ${what} in ${place}: ${says} (credentials: ${identity})${ending}`, { cause });
    this.trouble = trouble;
    this.says = says;
  }
}

/** Node's names for a connection that could not be made or broke, found anywhere down the causes. */
export function brokenConnection(thrown: unknown): Explanation | undefined {
  for (let cause = thrown; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { readonly code?: unknown };
    if (typeof code === 'string' && connectionCode.test(code))
      return { trouble: 'unreachable', says: `no connection: ${cause.message || code} (${code})` };
    const inner: unknown = cause instanceof AggregateError ? cause.errors[0] : undefined;
    if (inner !== undefined) return brokenConnection(inner) ?? brokenConnection(cause.cause);
  }
  return undefined;
}

const connectionCode =
  /^(?:ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|EPIPE|EPROTO|ERR_SSL|ERR_TLS|ERR_STREAM_PREMATURE|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|HPE_|UND_ERR)/;

/** What the number of an HTTP answer means, where the provider's own word says no more. */
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
