import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import type { Http2SecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { Identity } from '../pki.ts';
import type { NodeStreams } from '../streams.ts';
import { keysIn } from './auth/keys.ts';
import { Tokens } from './auth/tokens.ts';
import { bootstrap } from './bootstrap.ts';
import { aggregateRoles } from './housekeeping/aggregation.ts';
import { keepDefinitions } from './housekeeping/definitions.ts';
import { expireEvents } from './housekeeping/events.ts';
import { collectGarbage } from './housekeeping/garbage.ts';
import { keepNamespaces } from './housekeeping/namespaces.ts';
import { makeServer } from './http/server.ts';
import { kubeconfigOf } from './kubeconfig.ts';
import type { ServerState } from './state.ts';
import { Store } from './store/store.ts';
import { Registry } from './types/registry.ts';

export interface ApiServerOptions {
  /** The directory of all persistent state. */
  readonly directory: string;
  readonly listen: Listen;
  /** The streams of a node, if it runs. */
  readonly streamsOf: (nodeName: string) => NodeStreams | undefined;
  /** Further names and addresses in the server's certificate. */
  readonly names?: readonly string[];
  readonly addresses?: readonly string[];
}

interface Listen {
  readonly host: string;
  /** Another port is used if this one is taken. */
  readonly port: number;
}

export interface ApiServer {
  readonly url: string;
  readonly port: number;
  /** The CA certificate of the server, as PEM. */
  readonly ca: string;
  /** The client certificate of an administrator, and a kubeconfig with it. */
  readonly admin: Identity;
  readonly kubeconfig: string;
  readonly close: () => Promise<void>;
}

/** Starts the API server; it serves when this resolves. */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { directory, listen, streamsOf, names = [], addresses = [] } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const keys = await keysIn(directory, { names, addresses: [listen.host, ...addresses] });
  const store = new Store(directory);
  const state: ServerState = { store, types: new Registry(), tokens: new Tokens(keys.tokens), ca: keys.ca, streamsOf };
  keepDefinitions(state);
  bootstrap(state);
  keepNamespaces(state);
  collectGarbage(state);
  aggregateRoles(state);
  const stopExpiring = expireEvents(store);
  const server = makeServer(state, keys.server);
  const sockets = new Set<Socket>();
  server.on('secureConnection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const port = await startListening(server, listen);
  const url = `https://${listen.host.includes(':') ? `[${listen.host}]` : listen.host}:${port}`;
  return {
    url,
    port,
    ca: keys.ca,
    admin: keys.admin,
    kubeconfig: kubeconfigOf(url, keys.ca, keys.admin),
    close: async () => {
      stopExpiring();
      server.close();
      for (const socket of sockets) socket.destroy();
      store.close();
    },
  };
}

/** Listens, and returns the port. */
async function startListening(server: Http2SecureServer, { host, port }: Listen): Promise<number> {
  const begin = async (on: number): Promise<void> => {
    server.listen(on, host);
    await once(server, 'listening');
  };
  await begin(port).catch(async (error: unknown) => {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    if (!isTaken) throw error;
    await begin(0);
  });
  return (server.address() as AddressInfo).port;
}
