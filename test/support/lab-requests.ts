import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { theServer } from '../../src/lab/apiserver/auth/user.ts';
import { bootstrap } from '../../src/lab/apiserver/bootstrap.ts';
import { keepDefinitions } from '../../src/lab/apiserver/housekeeping/definitions.ts';
import { understood } from '../../src/lab/apiserver/http/resources.ts';
import type { Fields } from '../../src/lab/apiserver/json.ts';
import type { ServerState } from '../../src/lab/apiserver/state.ts';
import { Store } from '../../src/lab/apiserver/store/store.ts';
import { Registry } from '../../src/lab/apiserver/types/registry.ts';

/** What the lab's API server does with a request, without sockets around it; what it refuses is thrown. */
export type Ask = (method: string, path: string, sent?: Sent) => Promise<Fields>;

export interface Sent {
  readonly body?: unknown;
  readonly contentType?: string;
}

/** A server's state of its own for one test, with what every cluster has. */
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
    const asked = understood(state, method, url);
    if (asked === undefined) throw new Error(`${path} is not about a resource`);
    const { type, target, act } = asked;
    const sent = Buffer.from(body === undefined ? '' : JSON.stringify(body));
    const call = { state, type, target, query: url.searchParams, user: theServer, contentType, userAgent: 'test' };
    return (await act({ ...call, body: sent })).body as Fields;
  };
