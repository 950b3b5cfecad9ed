import type { Access } from '../../src/kube/config.ts';
import { type Connection, connectTo } from '../../src/kube/connection.ts';

export type Json = Record<string, unknown>;

export interface ApiResponse {
  readonly code: number;
  readonly body: Json;
  readonly headers: Readonly<Record<string, unknown>>;
}

export interface RequestOptions {
  readonly body?: object;
  readonly contentType?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const patches = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;

type Request = (
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  options?: RequestOptions,
) => Promise<ApiResponse>;

/** A client of an API server over plain HTTP, authenticated as one user. */
export interface Server {
  readonly request: Request;
  /** Collects the events of a watch until the watch ends or `enough` events arrived. */
  readonly watchEvents: (path: string, enough?: number) => Promise<readonly Json[]>;
  /** Looks up the path of the object's collection in the server's discovery. */
  readonly collectionOf: (object: Json, namespace: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** Generous deadlines: a busy machine must not fail the test. */
const limits = { beginMillis: 120_000, pauseMillis: 120_000 };

export function serverOf(access: Access): Server {
  const connection = connectTo(access, { userAgent: 'contract' });
  const request: Request = async (method, path, options) => {
    const { statusCode: code, headers, body } = await ask(connection, { method, path, ...options });
    return { code, headers, body: jsonIn(await body.text()) };
  };
  const resources = new Map<string, Promise<readonly Resource[]>>();
  return {
    request,
    watchEvents: async (path, enough = Number.POSITIVE_INFINITY) =>
      firstEvents((await ask(connection, { method: 'GET', path })).body, enough),
    collectionOf: async (object, namespace) => {
      const group = groupPath(String(object['apiVersion']));
      const known = resources.get(group) ?? resourcesIn(request, group);
      resources.set(group, known);
      const found = (await known).find(({ kind, name }) => kind === object['kind'] && !name.includes('/'));
      if (found === undefined) throw new Error(`${group} has no ${String(object['kind'])}`);
      return found.namespaced ? `${group}/namespaces/${namespace}/${found.name}` : `${group}/${found.name}`;
    },
    close: () => connection.close(),
  };
}

interface Resource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

const groupPath = (apiVersion: string): string => (apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`);

const resourcesIn = async (request: Request, group: string): Promise<readonly Resource[]> =>
  ((await request('GET', group)).body['resources'] ?? []) as readonly Resource[];

interface HttpRequest extends RequestOptions {
  readonly method: Parameters<Request>[0];
  readonly path: string;
}

function ask(connection: Connection, { method, path, ...options }: HttpRequest): ReturnType<Connection['request']> {
  const { body, contentType = 'application/json', accept = 'application/json' } = options;
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = { accept, 'content-type': contentType, ...options.headers };
  return connection.request({ method, path, headers, ...content, ...limits });
}

async function firstEvents(body: AsyncIterable<unknown>, enough: number): Promise<readonly Json[]> {
  let text = '';
  for await (const chunk of body) {
    text += String(chunk);
    if (eventsIn(text).length >= enough) break;
  }
  return eventsIn(text);
}

/** Parses the events that were received completely. */
const eventsIn = (text: string): readonly Json[] =>
  text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Json);

/** The server answers unknown paths with plain text. */
function jsonIn(text: string): Json {
  return text.startsWith('{') ? (JSON.parse(text) as Json) : { text };
}

/** Returns the body of a successful response; throws on any other. */
export async function done(response: Promise<ApiResponse>): Promise<Json> {
  const { code, body } = await response;
  if (code >= 300) throw new Error(`answered with ${code}: ${messageOf(body)}`);
  return body;
}

/** Returns the message of a rejected request; throws if the request succeeded. */
export async function refusal(response: Promise<ApiResponse>): Promise<string> {
  const { code, body } = await response;
  if (code < 400)
    throw new Error(`request should have been rejected, but was answered with ${code}: ${JSON.stringify(body)}`);
  return messageOf(body);
}

/** The message of a Status or of plain text; empty for other objects. */
export const messageOf = ({ message, text }: Json): string =>
  [message, text].filter((each) => typeof each === 'string').join('');

/** Parses Warning headers such as `299 - "unknown field \"spec.x\""`. */
export function warningsOf({ headers }: ApiResponse): readonly string[] {
  const given = [headers['warning'] ?? []].flat().map(String);
  return given.flatMap((each) => [...each.matchAll(/299 \S+ ("(?:[^"\\]|\\.)*")/g)].map(([, text]) => unquoted(text)));
}

const unquoted = (text = '""'): string => JSON.parse(text) as string;
