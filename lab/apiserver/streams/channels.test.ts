import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { terminalOver } from './channels.ts';

const wanted = { stdin: true, stdout: true, stderr: false, tty: true };
const sized = (text: string): Buffer => Buffer.concat([Buffer.of(4), Buffer.from(text)]);

it('terminal sizes are parsed, and invalid ones are ignored', async () => {
  const socket = new EventEmitter();
  const { resizes } = terminalOver(socket as WebSocket, wanted);
  for (const text of ['', '{', 'null', '{"Width":80,"Height":24}']) socket.emit('message', sized(text));
  socket.emit('close');
  expect(await Array.fromAsync(resizes ?? [])).toEqual([{ width: 80, height: 24 }]);
});
