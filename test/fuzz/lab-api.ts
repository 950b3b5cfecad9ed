import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keysIn } from '../../lab/apiserver/auth/keys.ts';
import { Tokens } from '../../lab/apiserver/auth/tokens.ts';
import { theServer } from '../../lab/apiserver/auth/user.ts';
import { bootstrap } from '../../lab/apiserver/bootstrap.ts';
import { keepDefinitions } from '../../lab/apiserver/housekeeping/definitions.ts';
import { type ParsedRequest, parseRequest } from '../../lab/apiserver/http/resources.ts';
import type { KubeObject } from '../../lab/apiserver/object.ts';
import type { ServerState } from '../../lab/apiserver/state.ts';
import { NoSuchPath, StatusError } from '../../lab/apiserver/status-error.ts';
import { Store } from '../../lab/apiserver/store/store.ts';
import { Registry } from '../../lab/apiserver/types/registry.ts';
import type { Connection, HttpAnswer, HttpRequest } from '../../src/kube/connection.ts';

export type LabJson = Readonly<Record<string, unknown>>;

/** The answer to a request. */
export interface LabAnswer {
  readonly code: number;
  readonly body: LabJson;
  readonly warnings: readonly string[];
}

export type LabRequest = Pick<HttpRequest, 'method' | 'path' | 'body' | 'headers'>;

/** The namespace of all objects under test. */
export const namespace = 'fuzz';

/** The namespace of the operator. */
export const operatorNamespace = 'operators';

/** The API server of the lab without its sockets: the same requests, validation and storage, in this process. */
export class LabApi {
  readonly state: ServerState;
  readonly #directory: string;

  private constructor(state: ServerState, directory: string) {
    this.state = state;
    this.#directory = directory;
  }

  static async start(definitions: readonly LabJson[]): Promise<LabApi> {
    const directory = mkdtempSync(join(tmpdir(), 'lab-fuzz-'));
    const { tokens, ca } = await keysIn(directory, { names: [], addresses: [] });
    const store = new Store(directory);
    const streamsOf = (): undefined => undefined;
    const state = { store, types: new Registry(), tokens: new Tokens(tokens), ca, streamsOf };
    keepDefinitions(state);
    bootstrap(state);
    const api = new LabApi(state, directory);
    for (const definition of definitions)
      await api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
    for (const name of [namespace, operatorNamespace]) {
      await api.post('/api/v1/namespaces', { metadata: { name } });
      await api.post(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } });
    }
    return api;
  }

  /** Creates an object that must be accepted. */
  async post(path: string, object: LabJson): Promise<LabJson> {
    const { code, body } = await this.send({ method: 'POST', path, body: JSON.stringify(object) });
    if (code >= 300 && code !== 409) throw new Error(`POST ${path}: ${String(body['message'])}`);
    return body;
  }

  async send(request: LabRequest): Promise<LabAnswer> {
    try {
      const { code, body: answer, warnings = [] } = await this.#handle(request);
      return { code, body: answer as LabJson, warnings };
    } catch (error) {
      if (error instanceof StatusError) return { code: error.code, body: error.status(), warnings: [] };
      if (error instanceof NoSuchPath) return { code: 404, body: { message: error.message }, warnings: [] };
      throw error; // the lab answers with 500
    }
  }

  #handle({ method, path, body = '', headers = {} }: LabRequest): ReturnType<ParsedRequest['handle']> {
    const url = new URL(path, 'https://lab');
    const parsed = parseRequest(this.state, method, url);
    if (parsed === undefined) throw new NoSuchPath();
    const { target, type, handle } = parsed;
    const contentType = headers['content-type'] ?? 'application/json';
    const query = url.searchParams;
    const call = { state: this.state, type, target, query, user: theServer, contentType, userAgent: 'fuzz' };
    return handle({ ...call, body: Buffer.from(body) });
  }

  /** A connection for the client of the operator. `onAnswer` sees every answer. */
  connection(onAnswer: (request: LabRequest, answer: LabAnswer) => void): Connection {
    return {
      request: async (request): Promise<HttpAnswer> => {
        const answer = await this.send(request);
        onAnswer(request, answer);
        const text = answer.code === 404 && answer.body['kind'] === undefined ? '404 page not found' : undefined;
        const content = Buffer.from(text ?? JSON.stringify(answer.body));
        return { statusCode: answer.code, headers: {}, body: [content] as unknown as HttpAnswer['body'] };
      },
      close: async () => undefined,
    };
  }

  objects(collection: string): readonly KubeObject[] {
    return [namespace, operatorNamespace].flatMap((place) => this.state.store.list(collection, place));
  }

  /** Removes objects from the storage, without finalizers or a grace period. */
  clear(collections: readonly string[], kept: ReadonlySet<KubeObject>): void {
    for (const collection of collections) {
      const removed = this.objects(collection).filter((object) => !kept.has(object));
      for (const { metadata } of removed)
        this.state.store.remove({ collection, namespace: metadata.namespace ?? '', name: metadata.name });
    }
  }

  close(): void {
    this.state.store.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
