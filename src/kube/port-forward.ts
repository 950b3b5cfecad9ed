import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { Agent, WebSocket } from 'undici';
import type { Failure } from '../std/failure.ts';
import { unlessAborted } from '../std/when-aborted.ts';
import type { Access } from './config.ts';
import { connectorFor } from './connection.ts';
import { ApiFailure } from './errors.ts';
import { type At, keyOf } from './object.ts';
import { objectPath, pods } from './resource.ts';

/** Each message of the protocol begins with its channel: what the port says, and what is wrong with the port. */
const dataChannel = 0;
/** Each channel begins with the number of the port, which we know. */
const greetingBytes = 2;
const protocol = 'v4.channel.k8s.io';
/** How much may wait to be sent before whoever writes is asked to wait. */
const mostBufferedBytes = 1 << 20;
const lookAgainMillis = 5;

export interface PodPort extends At {
  readonly port: number;
}

/**
 * A connection to a port of a pod, through the API server: for programs outside the cluster, where pods have no address.
 * It has no half-closed state: ending it closes it.
 */
export async function portForward(access: Access, target: PodPort, signal?: AbortSignal): Promise<Duplex> {
  const asked = `port-forward pods ${keyOf(target)} port ${target.port}`;
  const headers = await unlessAborted(access.headers(), signal).catch((thrown: unknown) => {
    throw signal?.aborted ? failure(asked, 'stopped') : thrown;
  });
  const agent = new Agent({ allowH2: false, connect: connectorFor(access, { allowH2: false }) });
  const socket = new WebSocket(addressOf(access, target), {
    protocols: [protocol],
    dispatcher: agent,
    headers: { ...headers },
  });
  socket.binaryType = 'arraybuffer';
  const stream = streamOver(socket, asked);
  stream.once('close', () => void agent.destroy());
  const stop = (): void => void stream.destroy(failure(asked, 'stopped'));
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop, { once: true });
  stream.once('close', () => signal?.removeEventListener('abort', stop));
  await opened(socket, stream);
  return stream;
}

/**
 * The same as a socket. Node's HTTP/2 and TLS take all that a stream gives at once in one go, without a turn for anybody
 * else in between, and an answer that comes whole is over before its reader has begun. From a socket it is not.
 */
export async function forwardedSocket(access: Access, target: PodPort, signal?: AbortSignal): Promise<Socket> {
  const far = await portForward(access, target, signal);
  const [near, ours] = await socketPair().catch((thrown: unknown) => {
    far.destroy();
    throw thrown;
  });
  if (far.destroyed) near.destroy(); // it was lost meanwhile, and tells nobody any more
  far.on('error', () => near.destroy()).once('close', () => near.end());
  near.on('error', () => far.destroy()).once('close', () => far.destroy());
  near.pipe(far).pipe(near);
  return ours;
}

/** Two ends of one connection on this machine. Whoever else connects meanwhile is shown out. */
async function socketPair(): Promise<readonly [Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const ours = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const connected = once(ours, 'connect');
  const { promise: near, resolve } = Promise.withResolvers<Socket>();
  const showOut = (candidate: Socket): void => void candidate.destroy();
  const receive = (candidate: Socket): void =>
    candidate.remotePort === ours.localPort ? resolve(candidate) : showOut(candidate);
  server.on('connection', (candidate) => {
    connected.then(
      () => receive(candidate),
      () => showOut(candidate),
    );
  });
  try {
    await connected;
    return [await near, ours];
  } finally {
    server.close();
  }
}

function addressOf(access: Access, { port, ...at }: PodPort): string {
  const prefix = access.url.pathname.replace(/\/+$/, '');
  const scheme = access.url.protocol === 'https:' ? 'wss' : 'ws';
  return `${scheme}://${access.url.host}${prefix}${objectPath(pods, at, 'portforward')}?ports=${port}`;
}

const failure = (asked: string, says: string): Failure => new ApiFailure('unreachable', `${asked}: ${says}`);

/** The data channel of a web socket as a stream. */
function streamOver(socket: WebSocket, asked: string): Duplex {
  const stream = new Duplex({
    allowHalfOpen: false,
    read: () => {}, // a web socket cannot be asked to wait
    write: (chunk: Buffer, _, written) => {
      socket.send(Buffer.concat([Uint8Array.of(dataChannel), chunk]));
      whenSent(socket, written);
    },
    final: (ended) => {
      socket.close();
      ended();
    },
    destroy: (error, destroyed) => {
      socket.close();
      destroyed(error);
    },
  });
  const greeted = new Set<number>();
  socket.addEventListener('message', ({ data }) => {
    const message = Buffer.from(data as ArrayBuffer);
    const channel = message[0] ?? dataChannel;
    const content = message.subarray(greeted.has(channel) ? 1 : 1 + greetingBytes);
    greeted.add(channel);
    if (content.length === 0) return;
    if (channel === dataChannel) stream.push(content);
    else stream.destroy(failure(asked, content.toString().trim()));
  });
  socket.addEventListener('error', () => stream.destroy(failure(asked, 'the connection failed')));
  socket.addEventListener('close', () => stream.push(null));
  return stream;
}

/** There is no event for this. */
function whenSent(socket: WebSocket, written: () => void): void {
  if (socket.readyState !== WebSocket.OPEN || socket.bufferedAmount < mostBufferedBytes) return written();
  setTimeout(() => whenSent(socket, written), lookAgainMillis);
}

function opened(socket: WebSocket, stream: Duplex): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.addEventListener('open', () => resolve(), { once: true });
  stream.once('error', reject);
  stream.once('close', reject);
  return promise;
}
