import type { SendHandle } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { connect, createServer } from 'node:net';
import type { SocketReply, SocketRequest } from './socket-request.ts';

/**
 * The socket broker, the first program in the sandbox. It opens sockets in the sandbox's network and sends them to the
 * lab. The broker ends with the lab, and every process of every pod ends with the broker.
 */
const reply = (message: SocketReply, handle?: SendHandle, then?: () => void): void => {
  process.send?.(message, handle, {}, () => then?.());
};

function openSocket(request: SocketRequest): void {
  const { id, host, port } = request;
  const fail = ({ message }: Error): void => reply({ id, error: message });
  switch (request.operation) {
    case 'dial': {
      const socket = connect({ host, port, noDelay: true });
      const onError = (error: Error): void => fail(error);
      socket.once('error', onError);
      socket.once('connect', () => {
        socket.off('error', onError);
        socket.on('error', () => socket.destroy());
        reply({ id }, socket);
      });
      return;
    }
    case 'listen': {
      const server = createServer();
      server.once('error', fail);
      server.listen(port, host, () => reply({ id }, server, () => server.close()));
      return;
    }
    case 'bind': {
      const socket = createSocket('udp4');
      socket.once('error', fail);
      socket.bind(port, host, () => reply({ id }, socket, () => socket.close()));
      return;
    }
    default:
      request.operation satisfies never;
  }
}

process.on('message', openSocket);
process.on('disconnect', () => process.exit());
// the lab decides when the broker ends
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.send?.('up');
