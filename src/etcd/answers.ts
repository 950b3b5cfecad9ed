import type { Socket } from 'node:net';
import { type Endpoint, speakOver } from './endpoint.ts';

/** What is expected of a member: its scheme, and the certificate it serves. */
export type Expected = Pick<Endpoint, 'url' | 'tls'>;

const question = 'GET /version HTTP/1.1\r\nHost: etcd\r\nConnection: close\r\n\r\n';
const answerPart = '"etcdserver"';
const mostBytes = 4_096;

/**
 * True if the far end of a connected socket is etcd. With TLS its certificate must be what the endpoint expects, without TLS it
 * must answer as etcd does. The socket is used up.
 */
export async function isEtcd(socket: Socket, endpoint: Expected, millis: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const isPlain = new URL(endpoint.url).protocol === 'http:';
  const over = speakOver(socket, endpoint);
  const timer = setTimeout(() => resolve(false), millis);
  over.once('error', () => resolve(false)).once('close', () => resolve(false));
  if (isPlain) askVersion(over, resolve);
  else over.once('secureConnect', () => resolve(true));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    over.on('error', () => {}).destroy();
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
  socket.write(question);
}
