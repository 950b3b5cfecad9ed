import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { Agent, WebSocket } from 'undici';
import type { Failure } from '../std/failure.ts';
import { unlessAborted } from '../std/when-aborted.ts';
import type { Access } from './config.ts';
import { connectorFor } from './connection.ts';
import { ApiFailure } from './errors.ts';
import { keyOf, type NamespacedName } from './object.ts';
import { objectPath, pods } from './resource.ts';

/** Each message begins with its channel: the data channel or the error channel of the port. */
const dataChannel = 0;
/** The first message of each channel begins with the port number. */
const portNumberBytes = 2;
const protocol = 'v4.channel.k8s.io';
/** The most unsent bytes before back-pressure applies to the writer. */
const mostBufferedBytes = 1 << 20;
const pollMillis = 5;

export interface PodPort extends NamespacedName {
  readonly port: number;
}

/**
 * Connects to a pod's port through the API server, for programs outside the cluster network. The stream has no
 * half-closed state: ending it closes it.
 */
export async function portForward(access: Access, target: PodPort, signal?: AbortSignal): Promise<Duplex> {
  const described = `port-forward pods ${keyOf(target)} port ${target.port}`;
  const headers = await unlessAborted(access.headers(), signal).catch((thrown: unknown) => {
    throw signal?.aborted ? failure(described, 'aborted') : thrown;
  });
  const agent = new Agent({ allowH2: false, connect: connectorFor(access, { allowH2: false }) });
  const socket = new WebSocket(addressOf(access, target), {
    protocols: [protocol],
    dispatcher: agent,
    headers: { ...headers },
  });
  socket.binaryType = 'arraybuffer';
  const stream = streamOver(socket, described);
  stream.once('close', () => void agent.destroy());
  const stop = (): void => void stream.destroy(failure(described, 'aborted'));
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop, { once: true });
  stream.once('close', () => signal?.removeEventListener('abort', stop));
  await opened(socket, stream);
  return stream;
}

/**
 * The same connection as a socket. Node's HTTP/2 and TLS read a plain stream in one synchronous burst: a complete
 * answer then ends before its reader is attached. A socket avoids that.
 */
export async function forwardedSocket(access: Access, target: PodPort, signal?: AbortSignal): Promise<Socket> {
  const far = await portForward(access, target, signal);
  const [near, ours] = await socketPair().catch((thrown: unknown) => {
    far.destroy();
    throw thrown;
  });
  if (far.destroyed) near.destroy(); // lost meanwhile: its events have fired already
  far.on('error', () => near.destroy()).once('close', () => near.end());
  near.on('error', () => far.destroy()).once('close', () => far.destroy());
  near.pipe(far).pipe(near);
  return ours;
}

/** Both ends of a loopback connection. Connections of other programs are closed. */
async function socketPair(): Promise<readonly [Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const ours = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const connected = once(ours, 'connect');
  const { promise: near, resolve } = Promise.withResolvers<Socket>();
  const reject = (candidate: Socket): void => void candidate.destroy();
  const receive = (candidate: Socket): void =>
    candidate.remotePort === ours.localPort ? resolve(candidate) : reject(candidate);
  server.on('connection', (candidate) => {
    connected.then(
      () => receive(candidate),
      () => reject(candidate),
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

const failure = (described: string, message: string): Failure =>
  new ApiFailure('unreachable', `${described}: ${message}`);

/** The data channel of a web socket as a stream. */
function streamOver(socket: WebSocket, described: string): Duplex {
  const stream = new Duplex({
    allowHalfOpen: false,
    read: () => {}, // a web socket has no back-pressure for reads
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
  const started = new Set<number>();
  socket.addEventListener('message', ({ data }) => {
    const message = Buffer.from(data as ArrayBuffer);
    const channel = message[0] ?? dataChannel;
    const content = message.subarray(started.has(channel) ? 1 : 1 + portNumberBytes);
    started.add(channel);
    if (content.length === 0) return;
    if (channel === dataChannel) stream.push(content);
    else stream.destroy(failure(described, content.toString().trim()));
  });
  socket.addEventListener('error', () => stream.destroy(failure(described, 'the connection failed')));
  socket.addEventListener('close', () => stream.push(null));
  return stream;
}

/** Polls `bufferedAmount`, because web sockets have no drain event. */
function whenSent(socket: WebSocket, written: () => void): void {
  if (socket.readyState !== WebSocket.OPEN || socket.bufferedAmount < mostBufferedBytes) return written();
  setTimeout(() => whenSent(socket, written), pollMillis);
}

function opened(socket: WebSocket, stream: Duplex): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.addEventListener('open', () => resolve(), { once: true });
  stream.once('error', reject);
  stream.once('close', reject);
  return promise;
}
