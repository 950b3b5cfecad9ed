import type { SendHandle } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { connect, createServer } from 'node:net';
import type { Answer, Question } from './questions.ts';

/**
 * The first program inside the lab's namespaces. It opens sockets there and hands them out: a socket belongs to the
 * network it was made in, whoever holds it. It ends when the lab does, and with it every process of every pod.
 */
const give = (given: Answer, handle?: SendHandle, then?: () => void): void => {
  process.send?.(given, handle, {}, () => then?.());
};

function answer(question: Question): void {
  const { id, host, port } = question;
  const refuse = ({ message }: Error): void => give({ id, refused: message });
  switch (question.ask) {
    case 'dial': {
      const socket = connect({ host, port, noDelay: true });
      const refused = (error: Error): void => refuse(error);
      socket.once('error', refused);
      socket.once('connect', () => {
        socket.off('error', refused);
        socket.on('error', () => socket.destroy());
        give({ id }, socket);
      });
      return;
    }
    case 'listen': {
      const server = createServer();
      server.once('error', refuse);
      server.listen(port, host, () => give({ id }, server, () => server.close()));
      return;
    }
    case 'bind': {
      const socket = createSocket('udp4');
      socket.once('error', refuse);
      socket.bind(port, host, () => give({ id }, socket, () => socket.close()));
      return;
    }
    default:
      question.ask satisfies never;
  }
}

process.on('message', answer);
process.on('disconnect', () => process.exit());
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined); // the lab decides
process.send?.('up');
