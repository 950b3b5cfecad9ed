import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { theServer } from '../../lab/apiserver/auth/user.ts';
import { bootstrap } from '../../lab/apiserver/bootstrap.ts';
import { keepDefinitions } from '../../lab/apiserver/housekeeping/definitions.ts';
import { parseRequest } from '../../lab/apiserver/http/resources.ts';
import type { Fields } from '../../lab/apiserver/json.ts';
import type { ServerState } from '../../lab/apiserver/state.ts';
import { Store } from '../../lab/apiserver/store/store.ts';
import { Registry } from '../../lab/apiserver/types/registry.ts';

/** Handles a request as the lab's API server does, without sockets. A refusal is thrown. */
export type Ask = (method: string, path: string, sent?: Sent) => Promise<Fields>;

export interface Sent {
  readonly body?: unknown;
  readonly contentType?: string;
}

/** A new server state for one test, with the objects of every cluster. */
export function labState(): ServerState {
  const directory = mkdtempSync(join(tmpdir(), 'lab-requests-'));
  const store = new Store(directory);
  onTestFinished(() => {
    store.close();
    rmSync(directory, { recursive: true });
  });
  const state = { store, types: new Registry(), tokens: {} as never, ca: '', streamsOf: () => undefined };
  keepDefinitions(state);
  bootstrap(state);
  return state;
}

export const asking =
  (state: ServerState): Ask =>
  async (method, path, { body, contentType = 'application/json' } = {}) => {
    const url = new URL(path, 'https://lab');
    const parsed = parseRequest(state, method, url);
    if (parsed === undefined) throw new Error(`${path} is not about a resource`);
    const { type, target, handle } = parsed;
    const sent = Buffer.from(body === undefined ? '' : JSON.stringify(body));
    const call = { state, type, target, query: url.searchParams, user: theServer, contentType, userAgent: 'test' };
    return (await handle({ ...call, body: sent })).body as Fields;
  };
