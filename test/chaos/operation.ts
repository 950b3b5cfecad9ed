/** A request of a client to one key. Each written value is written once, so a value identifies its write. */
export interface KeyRequest {
  readonly kind: 'put' | 'get' | 'delete' | 'cas';
  readonly key: string;
  /** The value that a put or cas writes. */
  readonly value?: string;
  /** What a cas compares with. */
  readonly expected?: Expected;
}

/** The value and revision that a client knows of a key. Without a value, the key does not exist. */
export interface Expected {
  readonly value: string;
  readonly modRevision: number;
  /** What the transaction compares: both identify the same write. */
  readonly by: 'value' | 'revision';
}

/** What a client knows about a request. */
export type KeyAnswer =
  | {
      readonly outcome: 'ok';
      /** The revision in the header of the answer. */
      readonly revision: number;
      /** True for a cas that was applied, for a delete of an existing key, and for every put. */
      readonly done: boolean;
      /** The read value; empty if the key does not exist. */
      readonly value: string;
      readonly modRevision: number;
    }
  /** Certainly not applied. */
  | { readonly outcome: 'failed'; readonly reason: string }
  /** Perhaps applied, now or later. */
  | { readonly outcome: 'unknown'; readonly reason: string };

/** A recorded request. Times are microseconds on the monotonic clock of this process. */
export interface Operation {
  readonly client: number;
  readonly request: KeyRequest;
  readonly call: number;
  readonly return: number;
  readonly answer: KeyAnswer;
}

/** A change of one key: an acknowledged write, or an event of a watch. A deletion has no value. */
export interface KeyChange {
  readonly revision: number;
  readonly key: string;
  readonly kind: 'put' | 'delete';
  readonly value: string;
}

/** A request with an answer. */
export type Acknowledged = Operation & { readonly answer: Extract<KeyAnswer, { outcome: 'ok' }> };

export const isAcknowledged = (operation: Operation): operation is Acknowledged => operation.answer.outcome === 'ok';

/** True if the request has changed its key. */
export const isApplied = ({ request, answer }: Operation): boolean =>
  answer.outcome === 'ok' && answer.done && request.kind !== 'get';

/** The acknowledged changes. */
export const changesOf = (operations: readonly Operation[]): readonly KeyChange[] =>
  operations.filter(isAcknowledged).flatMap((operation) => {
    if (!isApplied(operation)) return [];
    const { key, kind, value = '' } = operation.request;
    return [{ revision: operation.answer.revision, key, kind: kind === 'delete' ? 'delete' : 'put', value }];
  });

export const textOfChange = ({ revision, key, kind, value }: KeyChange): string =>
  kind === 'delete' ? `${revision}: delete ${key}` : `${revision}: put ${key}=${value}`;
