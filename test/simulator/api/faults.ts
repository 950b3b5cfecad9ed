/** What happens to one request. Times are in milliseconds. */
export interface RequestFate {
  /** The time until the request is sent, after credentials are loaded. */
  readonly sendMillis: number;
  /** The time until the server has it, and until the answer is back. */
  readonly thereMillis: number;
  readonly backMillis: number;
  readonly fault: RequestFault | undefined;
}

export type RequestFault =
  /** The server answers with this status and does nothing. */
  | { readonly is: 'refused'; readonly status: 409 | 429 | 500 | 503 }
  /** No answer: the request was not done, or it was. */
  | { readonly is: 'lost'; readonly isDone: boolean }
  /** The connection breaks: the request was not done, or it was. */
  | { readonly is: 'broken'; readonly isDone: boolean }
  /** The process dies before the server has the request, or after it was done. */
  | { readonly is: 'crash'; readonly isDone: boolean };

/** What happens to one event of a watch. */
export type WatchFate =
  | { readonly is: 'late'; readonly millis: number }
  /** The watch ends: regularly, by a broken connection, or because its history is compacted. */
  | { readonly is: 'ended'; readonly by: 'server' | 'broken' | 'compacted' };

/** Draws what goes wrong. */
export interface FaultSource {
  readonly ofRequest: (verb: string, plural: string) => RequestFate;
  readonly ofWatchEvent: (plural: string) => WatchFate;
  /** True if a new watch finds its resourceVersion compacted. */
  readonly isCompacted: () => boolean;
}
