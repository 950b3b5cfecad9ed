export type FailureKind =
  | 'not-found'
  | 'conflict' //    somebody wrote first: look again, soon
  | 'unreachable' // network, overload or time-out: look again, later; what was asked may have been done
  | 'rejected' //    the other side says no: asking again the same way is no use
  | 'forbidden' //   the other side says we may not: somebody has to grant it
  | 'bug'; //        ours

/** The only error that is thrown between folders. Adapters translate at the edge; nobody else reads status codes. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }

  /** Whatever was thrown, as a Failure; what nobody translated is our bug, never silently "try again". */
  static from(thrown: unknown): Failure {
    if (thrown instanceof Failure) return thrown;
    const says = thrown instanceof Error ? thrown.message : String(thrown);
    return new Failure('bug', `unexpected: ${says}`, { cause: thrown });
  }
}

/** What a promise gives, or `instead` when it fails in that one way. */
export const unless = <T, U>(kind: FailureKind, promise: Promise<T>, instead: U): Promise<T | U> =>
  promise.catch((thrown: unknown) => {
    if (thrown instanceof Failure && thrown.kind === kind) return instead;
    throw thrown;
  });
