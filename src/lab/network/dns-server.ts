import type { Socket as Datagrams } from 'node:dgram';
import type { Socket } from 'node:net';
import { decode, encode, type Packet, streamDecode, streamEncode } from 'dns-packet';
import type { Runnable } from '../../runtime/manager.ts';
import { whenAborted } from '../../std/when-aborted.ts';
import type { Ground } from '../ground/ground.ts';
import { layout } from './addresses.ts';
import { answerTo } from './dns-answer.ts';
import type { Names } from './names.ts';

const port = 53;
/** What fits into a datagram by the oldest rule; who wants more asks again over a connection. */
const mostBytes = 512;
const truncated = 0x0200;

/** The cluster's DNS, at its usual address inside the ground. Nothing else of the world is known there. */
export const dnsServer =
  (ground: Ground, names: () => Names): Runnable =>
  async (signal) => {
    const datagrams = await ground.bind(layout.dns, port);
    const server = await ground.listen(layout.dns, port);
    datagrams.on('message', (message, { address, port: from }) => {
      const answer = datagramFor(message, names());
      if (answer !== undefined) datagrams.send(answer, from, address);
    });
    datagrams.on('error', () => undefined); // the one who asked is gone
    server.on('connection', (socket: Socket) => serve(socket, names));
    await whenAborted(signal);
    close(datagrams);
    server.close();
  };

function close(datagrams: Datagrams): void {
  datagrams.close();
}

function datagramFor(message: Buffer, names: Names): Buffer | undefined {
  try {
    const query = decode(message);
    const answer = answerTo(query, names);
    const whole = encode(answer);
    return whole.length <= sizeAllowed(query) ? whole : encode(cut(answer));
  } catch {
    return undefined; // not a query
  }
}

const cut = (answer: Packet): Packet => ({
  ...answer,
  flags: (answer.flags ?? 0) | truncated,
  answers: [],
  additionals: [],
});

function sizeAllowed({ additionals = [] }: Packet): number {
  const extension = additionals.find(({ type }) => type === 'OPT');
  const size = extension !== undefined && 'udpPayloadSize' in extension ? extension.udpPayloadSize : undefined;
  return Math.max(mostBytes, size ?? 0);
}

/** Answers what is asked over a connection; who asks what cannot be read is left. */
export function serve(socket: Socket, names: () => Names): void {
  let held = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    while (held.length >= 2 && held.length >= 2 + held.readUInt16BE(0)) {
      const whole = held.subarray(0, 2 + held.readUInt16BE(0));
      held = held.subarray(whole.length);
      const answer = streamedFor(Buffer.from(whole), names());
      if (answer === undefined) socket.destroy();
      else socket.write(answer);
    }
  });
}

function streamedFor(message: Buffer, names: Names): Buffer | undefined {
  try {
    return streamEncode(answerTo(streamDecode(message), names));
  } catch {
    return undefined; // not a query
  }
}
