import { type Duplex, PassThrough, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { WebSocket } from 'ws';
import { badRequest } from '../status-error.ts';

/** The first byte of a message is its channel: data or error. */
const channel = { data: 0, error: 1 } as const;

/** The port of a request. Kubernetes accepts several on one connection; the lab accepts one. */
export function portIn(query: URLSearchParams): number {
  const ports = query.getAll('ports');
  const port = Number(ports[0]);
  if (ports.length === 1 && Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw badRequest(`ports must name one port from 1 to 65535, but is "${ports.join(',')}"`);
}

/** Forwards a WebSocket to a port, by protocol `v4.channel.k8s.io`. */
export async function forwardOver(socket: WebSocket, port: number, open: () => Promise<Duplex>): Promise<void> {
  for (const each of [channel.data, channel.error]) socket.send(Buffer.of(each, port % 256, port >> 8));
  const fromClient = new PassThrough(); // the client may send before the port is open
  socket.on('message', (message: Buffer) => {
    if (message[0] === channel.data) fromClient.write(message.subarray(1));
  });
  socket.once('close', () => fromClient.end());
  try {
    await pipeBoth(socket, fromClient, await open());
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    socket.send(Buffer.concat([Buffer.of(channel.error), Buffer.from(`error forwarding port ${port}: ${detail}`)]));
  } finally {
    socket.close(1000);
  }
}

/** Pipes both ways until the port closes or the client is gone. */
async function pipeBoth(socket: WebSocket, fromClient: PassThrough, port: Duplex): Promise<void> {
  const toClient = new Writable({
    write: (chunk: Buffer, _encoding, done) => socket.send(Buffer.concat([Buffer.of(channel.data), chunk]), done),
  });
  port.on('error', () => {}); // also after the end of the stream
  socket.once('close', () => port.destroy());
  fromClient.pipe(port);
  // A client that leaves or a port that resets ends the stream. Neither is an error.
  await pipeline(port, toClient).catch(() => undefined);
}
