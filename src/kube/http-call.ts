import { textIn } from './answer-body.ts';
import type { CallOptions } from './client.ts';
import type { Connection, HttpAnswer, HttpRequest } from './connection.ts';
import { failureOf, unanswered } from './errors.ts';

/** One call, in the words of the Kubernetes API. */
export interface Call {
  readonly verb: string;
  readonly method: HttpRequest['method'];
  /** What it is about, for the failure. */
  readonly what: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly contentType?: string;
  readonly body?: object;
  readonly options?: CallOptions | undefined;
  /** How large the answer may be. */
  readonly mostBytes?: number;
}

/** What a call was answered with. */
export interface Answered<T> {
  readonly content: T;
  readonly bytes: number;
}

export const defaultTimeoutSeconds = 30;
const defaultMostBytes = 16 * 1024 * 1024;

/** Makes a call and reads the answer; whatever goes wrong is thrown as a Failure. */
export async function perform<T>(connection: Connection, call: Call): Promise<Answered<T>> {
  const asked = `${call.verb} ${call.what}`;
  const millis = (call.options?.timeoutSeconds ?? defaultTimeoutSeconds) * 1000;
  // The connection's own time-outs come first, because they also find out whether the connection is dead. This one is
  // for what they do not count: waiting for credentials, or an answer that comes drop by drop.
  using limit = limited(millis * 2, call.options?.signal);
  try {
    const { confirm } = call.options ?? {};
    const request = { ...requestOf(call), beginMillis: millis, pauseMillis: millis, signal: limit.signal, confirm };
    const answer = await connection.request(request);
    return (await contentOf(asked, answer, call.mostBytes)) as Answered<T>;
  } catch (error) {
    throw unanswered(asked, error, limit.signal);
  }
}

export function requestOf(call: Call): Pick<HttpRequest, 'method' | 'path' | 'headers' | 'body'> {
  const { method, path, query = {}, contentType = 'application/json', body } = call;
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
  const accept = { accept: 'application/json' };
  if (body === undefined) return { method, path: `${path}${search}`, headers: accept };
  const headers = { ...accept, 'content-type': contentType };
  return { method, path: `${path}${search}`, headers, body: JSON.stringify(body) };
}

/** The JSON of a success; anything else is thrown. */
export async function contentOf(
  asked: string,
  { statusCode, headers, body }: HttpAnswer,
  mostBytes: number = defaultMostBytes,
): Promise<Answered<unknown>> {
  const { text, bytes } = await textIn(body, mostBytes);
  const retryAfter = headers['retry-after'];
  if (statusCode < 200 || statusCode > 299)
    throw failureOf(asked, statusCode, { text, ...(typeof retryAfter === 'string' && { retryAfter }) });
  try {
    return { content: JSON.parse(text) as unknown, bytes };
  } catch (error) {
    throw new Error('the answer is not JSON', { cause: error });
  }
}

interface Limit {
  readonly signal: AbortSignal;
  /** From now on there is no limit but `outer`. */
  readonly lift: () => void;
  readonly [Symbol.dispose]: () => void;
}

/** A signal that aborts with `outer`, or when the time is over. It must be disposed of, or it stays tied to `outer`. */
export function limited(millis: number, outer?: AbortSignal): Limit {
  const controller = new AbortController();
  const follow = (): void => controller.abort(outer?.reason);
  const timer = setTimeout(() => controller.abort(new Error(`not within ${millis / 1000} s`)), millis);
  if (outer?.aborted) follow();
  outer?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    lift: () => clearTimeout(timer),
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', follow);
    },
  };
}
