import type { Socket } from 'node:net';
import { type Endpoint, withTls } from './endpoint.ts';

/** The URL and the TLS settings that a member is expected to serve. */
export type ExpectedServer = Pick<Endpoint, 'url' | 'tls'>;

const request = 'GET /version HTTP/1.1\r\nHost: etcd\r\nConnection: close\r\n\r\n';
const answerPart = '"etcdserver"';
const mostBytes = 4_096;

/**
 * True if a connected socket leads to etcd. With TLS, the certificate must match the endpoint. Without TLS, the server
 * must answer `/version` as etcd does. The socket is closed afterwards.
 */
export async function isEtcd(socket: Socket, endpoint: ExpectedServer, millis: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const isPlain = new URL(endpoint.url).protocol === 'http:';
  const stream = withTls(socket, endpoint);
  const timer = setTimeout(() => resolve(false), millis);
  stream.once('error', () => resolve(false)).once('close', () => resolve(false));
  if (isPlain) askVersion(stream, resolve);
  else stream.once('secureConnect', () => resolve(true));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    stream.on('error', () => {}).destroy();
    socket.on('error', () => {}).destroy();
  }
}

function askVersion(socket: Socket, resolve: (isEtcd: boolean) => void): void {
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
    if (answer.includes(answerPart)) resolve(true);
    else if (answer.length > mostBytes) resolve(false);
  });
  socket.write(request);
}
