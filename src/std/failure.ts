export type FailureKind =
  | 'not-found'
  | 'conflict' //    the object changed meanwhile: observe again, soon
  | 'unreachable' // network, overload or time-out: retry later; the request may have taken effect
  | 'rejected' //    the server refuses the request: the same request will fail again
  | 'forbidden' //   a permission is missing: a user has to grant it
  | 'bug'; //        a defect of this program

/** The only error thrown between folders. Only the client folders read status codes. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }

  /** Converts a thrown value to a Failure. An untranslated error is a bug, never a reason to retry silently. */
  static from(thrown: unknown): Failure {
    if (thrown instanceof Failure) return thrown;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new Failure('bug', `unexpected: ${message}`, { cause: thrown });
  }
}

/** The result of a promise, or `instead` if it fails with this kind of failure. */
export const unless = <T, U>(kind: FailureKind, promise: Promise<T>, instead: U): Promise<T | U> =>
  promise.catch((thrown: unknown) => {
    if (thrown instanceof Failure && thrown.kind === kind) return instead;
    throw thrown;
  });
