import { textIn } from './answer-body.ts';
import type { RequestOptions } from './client.ts';
import type { Connection, HttpAnswer, HttpRequest } from './connection.ts';
import { failureOfAnswer, unanswered } from './errors.ts';

/** One call of the Kubernetes API. */
export interface Call {
  readonly verb: string;
  readonly method: HttpRequest['method'];
  /** The object or collection, for error messages. */
  readonly what: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly contentType?: string;
  readonly body?: object;
  readonly options?: RequestOptions | undefined;
  /** The size limit of the answer. */
  readonly mostBytes?: number;
}

/** The parsed answer of a call, and its size. */
export interface Answered<T> {
  readonly content: T;
  readonly bytes: number;
}

export const defaultTimeoutSeconds = 30;
const defaultMostBytes = 16 * 1024 * 1024;

/** Sends a call and reads the answer. All errors are thrown as a Failure. */
export async function sendCall<T>(connection: Connection, call: Call): Promise<Answered<T>> {
  const described = `${call.verb} ${call.what}`;
  const millis = (call.options?.timeoutSeconds ?? defaultTimeoutSeconds) * 1000;
  // The time-outs of the connection are shorter, because they also detect a dead connection. This deadline covers
  // the rest: waiting for credentials, and an answer that trickles in.
  using deadline = startDeadline(millis * 2, call.options?.signal);
  try {
    const { confirm } = call.options ?? {};
    const request = { ...requestOf(call), beginMillis: millis, pauseMillis: millis, signal: deadline.signal, confirm };
    const answer = await connection.request(request);
    return (await contentOf(described, answer, call.mostBytes)) as Answered<T>;
  } catch (error) {
    throw unanswered(described, error, deadline.signal);
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

/** The JSON of a successful answer. Throws for any other answer. */
export async function contentOf(
  described: string,
  { statusCode, headers, body }: HttpAnswer,
  mostBytes: number = defaultMostBytes,
): Promise<Answered<unknown>> {
  const { text, bytes } = await textIn(body, mostBytes);
  const retryAfter = headers['retry-after'];
  if (statusCode < 200 || statusCode > 299)
    throw failureOfAnswer(described, statusCode, { text, ...(typeof retryAfter === 'string' && { retryAfter }) });
  try {
    return { content: JSON.parse(text) as unknown, bytes };
  } catch (error) {
    throw new Error('the answer is not JSON', { cause: error });
  }
}

interface Deadline {
  readonly signal: AbortSignal;
  /** Removes the time limit; only `outer` aborts from now on. */
  readonly lift: () => void;
  readonly [Symbol.dispose]: () => void;
}

/**
 * A signal that aborts with `outer` or after `millis`. The caller must dispose it, to remove its listener from `outer`.
 */
export function startDeadline(millis: number, outer?: AbortSignal): Deadline {
  const controller = new AbortController();
  const follow = (): void => controller.abort(outer?.reason);
  const timer = setTimeout(() => controller.abort(new Error(`no answer within ${millis / 1000} s`)), millis);
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
