import { type Duplex, PassThrough, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { WebSocket } from 'ws';
import { badRequest } from '../refusal.ts';

/** The first byte of every message says whether it is what the port says, or what is wrong with the port. */
const channel = { data: 0, error: 1 } as const;

/** The port that a request means. Kubernetes takes several over one connection; nobody here asks for more than one. */
export function portIn(query: URLSearchParams): number {
  const ports = query.getAll('ports');
  const port = Number(ports[0]);
  if (ports.length === 1 && Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw badRequest(`ports must name one port from 1 to 65535, but is "${ports.join(',')}"`);
}

/** Joins a WebSocket and a port, in the way that Kubernetes calls `v4.channel.k8s.io`. */
export async function forwardOver(socket: WebSocket, port: number, open: () => Promise<Duplex>): Promise<void> {
  for (const each of [channel.data, channel.error]) socket.send(Buffer.of(each, port % 256, port >> 8));
  const typed = new PassThrough(); // somebody may speak before we are through
  socket.on('message', (message: Buffer) => {
    if (message[0] === channel.data) typed.write(message.subarray(1));
  });
  socket.once('close', () => typed.end());
  try {
    await joined(socket, typed, await open());
  } catch (error) {
    const says = error instanceof Error ? error.message : String(error);
    socket.send(Buffer.concat([Buffer.of(channel.error), Buffer.from(`error forwarding port ${port}: ${says}`)]));
  } finally {
    socket.close(1000);
  }
}

/** Until the far end has said all, or the near end is gone. */
async function joined(socket: WebSocket, typed: PassThrough, far: Duplex): Promise<void> {
  const said = new Writable({
    write: (chunk: Buffer, _encoding, done) => socket.send(Buffer.concat([Buffer.of(channel.data), chunk]), done),
  });
  far.on('error', () => {}); // also after all has been said
  socket.once('close', () => far.destroy());
  typed.pipe(far);
  // A near end that left, or a far end that broke off, ends the conversation; neither is told more of it.
  await pipeline(far, said).catch(() => undefined);
}
