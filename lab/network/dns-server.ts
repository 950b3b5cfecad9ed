import type { Socket } from 'node:net';
import { decode, encode, type Packet, streamDecode, streamEncode } from 'dns-packet';
import type { Runnable } from '../../src/runtime/manager.ts';
import { whenAborted } from '../../src/std/when-aborted.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { layout } from './addresses.ts';
import { answerTo } from './dns-answer.ts';
import type { Names } from './names.ts';

const port = 53;
/** The size limit of a UDP answer without EDNS. Clients repeat a truncated query over TCP. */
const maxUdpBytes = 512;
const truncated = 0x0200;

/** The cluster DNS at its usual address in the sandbox. It does not resolve names outside the cluster. */
export const dnsServer =
  (sandbox: Sandbox, names: () => Names): Runnable =>
  async (signal) => {
    const datagrams = await sandbox.bind(layout.dns, port);
    const server = await sandbox.listen(layout.dns, port);
    datagrams.on('message', (message, { address, port: from }) => {
      const answer = udpAnswer(message, names());
      if (answer !== undefined) datagrams.send(answer, from, address);
    });
    datagrams.on('error', () => undefined); // the client is gone
    server.on('connection', (socket: Socket) => serve(socket, names));
    await whenAborted(signal);
    datagrams.close();
    server.close();
  };

function udpAnswer(message: Buffer, names: Names): Buffer | undefined {
  try {
    const query = decode(message);
    const answer = answerTo(query, names);
    const whole = encode(answer);
    return whole.length <= maxSizeOf(query) ? whole : encode(truncate(answer));
  } catch {
    return undefined; // not a query
  }
}

const truncate = (answer: Packet): Packet => ({
  ...answer,
  flags: (answer.flags ?? 0) | truncated,
  answers: [],
  additionals: [],
});

function maxSizeOf({ additionals = [] }: Packet): number {
  const extension = additionals.find(({ type }) => type === 'OPT');
  const size = extension !== undefined && 'udpPayloadSize' in extension ? extension.udpPayloadSize : undefined;
  return Math.max(maxUdpBytes, size ?? 0);
}

/** Answers queries over TCP; closes a connection that sends an invalid query. */
export function serve(socket: Socket, names: () => Names): void {
  let buffered = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    buffered = Buffer.concat([buffered, chunk]);
    while (buffered.length >= 2 && buffered.length >= 2 + buffered.readUInt16BE(0)) {
      const whole = buffered.subarray(0, 2 + buffered.readUInt16BE(0));
      buffered = buffered.subarray(whole.length);
      const answer = tcpAnswer(Buffer.from(whole), names());
      if (answer === undefined) socket.destroy();
      else socket.write(answer);
    }
  });
}

function tcpAnswer(message: Buffer, names: Names): Buffer | undefined {
  try {
    return streamEncode(answerTo(streamDecode(message), names));
  } catch {
    return undefined; // not a query
  }
}
