import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach } from 'vitest';
import { type ConnectionSettings, connectionTo, type EtcdConnection } from '../../src/etcd/client.ts';
import type { Endpoint } from '../../src/etcd/endpoint.ts';

const opened: EtcdConnection[] = [];

/** A connection that ends with the test it is made in. */
export function connect(endpoint: Endpoint, settings: Partial<ConnectionSettings> = {}): EtcdConnection {
  const connection = connectionTo(endpoint, settings);
  opened.push(connection);
  return connection;
}

afterEach(() => {
  for (const connection of opened.splice(0)) connection.close();
});

/** Something that listens and is no etcd. */
export interface Listener extends AsyncDisposable {
  readonly port: number;
  readonly sockets: readonly Socket[];
}

/** Listens, and says the same to everybody; or nothing. */
export async function listen(greeting?: string): Promise<Listener> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {}).resume(); // the client goes when it likes
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
