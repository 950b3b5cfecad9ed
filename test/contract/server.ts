import type { Access } from '../../src/kube/config.ts';
import { type Connection, connectTo } from '../../src/kube/connection.ts';

export type Json = Record<string, unknown>;

export interface Spoken {
  readonly code: number;
  readonly body: Json;
  readonly headers: Readonly<Record<string, unknown>>;
}

export interface Words {
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

type Say = (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, words?: Words) => Promise<Spoken>;

/** An API server over plain HTTP, as one user. */
export interface Server {
  readonly say: Say;
  /** The events of a watch until it ends, or until there are `enough`. */
  readonly watched: (path: string, enough?: number) => Promise<readonly Json[]>;
  /** The path of the collection that an object belongs to, as the server's discovery has it. */
  readonly collectionOf: (object: Json, namespace: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** A server that takes longer is broken; a busy machine is not. */
const limits = { beginMillis: 120_000, pauseMillis: 120_000 };

export function serverOf(access: Access): Server {
  const connection = connectTo(access, { userAgent: 'contract' });
  const say: Say = async (method, path, words) => {
    const { statusCode: code, headers, body } = await ask(connection, { method, path, ...words });
    return { code, headers, body: jsonIn(await body.text()) };
  };
  const resources = new Map<string, Promise<readonly Resource[]>>();
  return {
    say,
    watched: async (path, enough = Number.POSITIVE_INFINITY) =>
      firstEvents((await ask(connection, { method: 'GET', path })).body, enough),
    collectionOf: async (object, namespace) => {
      const group = groupPath(String(object['apiVersion']));
      const known = resources.get(group) ?? resourcesIn(say, group);
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

const resourcesIn = async (say: Say, group: string): Promise<readonly Resource[]> =>
  ((await say('GET', group)).body['resources'] ?? []) as readonly Resource[];

interface Question extends Words {
  readonly method: Parameters<Say>[0];
  readonly path: string;
}

function ask(connection: Connection, { method, path, ...words }: Question): ReturnType<Connection['request']> {
  const { body, contentType = 'application/json', accept = 'application/json' } = words;
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = { accept, 'content-type': contentType, ...words.headers };
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

/** Those that have been received whole. */
const eventsIn = (text: string): readonly Json[] =>
  text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Json);

/** Unknown paths are answered with plain text. */
function jsonIn(text: string): Json {
  return text.startsWith('{') ? (JSON.parse(text) as Json) : { text };
}

/** The body of an answer that must be a success. */
export async function done(asked: Promise<Spoken>): Promise<Json> {
  const { code, body } = await asked;
  if (code >= 300) throw new Error(`answered with ${code}: ${messageOf(body)}`);
  return body;
}

/** The message of an answer that must be a refusal. */
export async function refusal(asked: Promise<Spoken>): Promise<string> {
  const { code, body } = await asked;
  if (code < 400) throw new Error(`should have been refused, but was answered with ${code}: ${JSON.stringify(body)}`);
  return messageOf(body);
}

/** What a Status says; objects say nothing. */
export const messageOf = ({ message, text }: Json): string =>
  [message, text].filter((each) => typeof each === 'string').join('');

/** The texts of an answer's Warning headers: `299 - "unknown field \"spec.x\""`. */
export function warningsOf({ headers }: Spoken): readonly string[] {
  const given = [headers['warning'] ?? []].flat().map(String);
  return given.flatMap((each) => [...each.matchAll(/299 \S+ ("(?:[^"\\]|\\.)*")/g)].map(([, text]) => unquoted(text)));
}

const unquoted = (text = '""'): string => JSON.parse(text) as string;
