import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach } from 'vitest';
import { type ConnectionSettings, connectionTo, type EtcdConnection } from '../../src/etcd/client.ts';
import type { Endpoint } from '../../src/etcd/endpoint.ts';

const opened: EtcdConnection[] = [];

/** Opens a connection that is closed after the test. */
export function connect(endpoint: Endpoint, settings: Partial<ConnectionSettings> = {}): EtcdConnection {
  const connection = connectionTo(endpoint, settings);
  opened.push(connection);
  return connection;
}

afterEach(() => {
  for (const connection of opened.splice(0)) connection.close();
});

/** A TCP server that is not an etcd. */
export interface Listener extends AsyncDisposable {
  readonly port: number;
  readonly sockets: readonly Socket[];
}

/** Starts a TCP server that sends `greeting` to every client and closes, or sends nothing. */
export async function listen(greeting?: string): Promise<Listener> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {}).resume(); // the client may close at any time
    if (greeting !== undefined) socket.end(greeting);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}
