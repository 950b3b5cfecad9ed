import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { fromKubeconfig } from '../../src/kube/config.ts';
import { type Connection, connectTo } from '../../src/kube/connection.ts';
import { kubeconfigPath } from '../support/kube-connection.ts';
import { type Kubectl, kubectlIn } from '../support/kubectl.ts';

export type Json = Record<string, unknown>;

/** Whether the server is the lab's: only what a node does must then be done by the test. */
export const isLab = process.env['CONTRACT_OF'] === 'lab';

export interface Spoken {
  readonly code: number;
  readonly body: Json;
  readonly headers: Readonly<Record<string, unknown>>;
}

interface Words {
  readonly body?: object;
  readonly contentType?: string;
  readonly accept?: string;
}

/** A server under test: a namespace of the file's own, kubectl in it, and plain HTTP. */
export interface Contract {
  readonly namespace: string;
  readonly kubectl: Kubectl;
  readonly say: (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, words?: Words) => Promise<Spoken>;
  /** The events of a watch that ends by itself, or when there were enough of them. */
  readonly watched: (path: string, enough?: number) => Promise<readonly Json[]>;
}

const limits = { beginMillis: 30_000, pauseMillis: 30_000 };

export function contract(name: string): Contract {
  const namespace = `contract-${name}-${randomBytes(3).toString('hex')}`;
  const kubectl = kubectlIn(namespace);
  let connection: Connection;
  beforeAll(async () => {
    connection = connectTo(await fromKubeconfig(kubeconfigPath()), { userAgent: 'contract' });
    await kubectl(`create namespace ${namespace}`);
    await kubectl('wait serviceaccount/default --for=create --timeout=30s');
    await kubectl('wait configmap/kube-root-ca.crt --for=create --timeout=30s');
  });
  afterAll(async () => {
    await kubectl(`delete namespace ${namespace} --wait=false`);
    await connection.close();
  });
  const ask = async (method: Parameters<Contract['say']>[0], path: string, words: Words = {}) => {
    const { body, contentType = 'application/json', accept = 'application/json' } = words;
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    return connection.request({
      method,
      path,
      headers: { accept, 'content-type': contentType },
      ...content,
      ...limits,
    });
  };
  return {
    namespace,
    kubectl,
    say: async (method, path, words) => {
      const { statusCode: code, headers, body } = await ask(method, path, words);
      return { code, headers, body: jsonIn(await body.text()) };
    },
    watched: async (path, enough = Number.POSITIVE_INFINITY) => firstEvents((await ask('GET', path)).body, enough),
  };
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

/** Where there is nothing at all, the answer is plain text. */
function jsonIn(text: string): Json {
  return text.startsWith('{') ? (JSON.parse(text) as Json) : { text };
}

export const configMap = (name: string, content: Json = {}): Json => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(content['metadata'] as Json | undefined) },
  data: content['data'] ?? { key: 'value' },
});
