import { StringDecoder } from 'node:string_decoder';
import { Failure } from '../std/failure.ts';
import { failureOfEvent } from './errors.ts';
import type { KubeObject, Stored } from './object.ts';

/** An event of a watch. A bookmark carries only the server's current resourceVersion. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Stored<T> }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

/** The size limit of a line. Objects have at most 3 MiB. */
const longestLine = 16 * 1024 * 1024;

/** Splits a stream into lines. A last line without a newline is a failure: the stream was cut off. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let unfinished: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const [first = '', ...rest] = decoder.write(Buffer.from(chunk)).split('\n');
    unfinished.push(first);
    length += first.length;
    if (length > longestLine) throw new Error(`a line of the answer has more than ${longestLine} characters`);
    for (const piece of rest) {
      yield unfinished.join('');
      unfinished = [piece];
      length = piece.length;
    }
  }
  const left = unfinished.join('') + decoder.end();
  if (left.trim() !== '') throw new Error('the answer broke off in the middle of a line');
}

/** Parses one line of a watch. `request` names the watched resource, for error messages. */
export function eventIn<T extends KubeObject>(line: string, request: string): WatchEvent<T> {
  const { type, object } = parsed<T>(line, request);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object };
    case 'BOOKMARK':
      return { type, resourceVersion: object.metadata.resourceVersion };
    case 'ERROR':
      throw failureOfEvent(request, object);
    default:
      return unknown(request, type);
  }
}

function unknown(request: string, type: never): never {
  throw new Failure('unreachable', `${request}: the server sent an event of the unknown type ${String(type)}`);
}

interface Line<T extends KubeObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: Stored<T>;
}

function parsed<T extends KubeObject>(line: string, request: string): Line<T> {
  try {
    const event: unknown = JSON.parse(line);
    if (typeof event === 'object' && event !== null && 'type' in event && 'object' in event) return event as Line<T>;
  } catch (error) {
    throw new Failure('unreachable', `${request}: the server sent a line that is not JSON`, { cause: error });
  }
  throw new Failure('unreachable', `${request}: the server sent a line that is not an event`);
}
