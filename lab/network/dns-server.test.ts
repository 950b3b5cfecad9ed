import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { streamDecode, streamEncode } from 'dns-packet';
import { expect, it } from 'vitest';
import { serve } from './dns-server.ts';
import { namesOf } from './names.ts';

const names = namesOf({ services: [], slices: [] });

it('a connection with an invalid DNS query is closed, and the next connection is served', async () => {
  const server = createServer((socket) => serve(socket, () => names)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const invalid = connect(port, '127.0.0.1');
  invalid.write(Buffer.of(0, 1, 7));
  await once(invalid, 'close');
  const valid = connect(port, '127.0.0.1');
  valid.write(streamEncode({ type: 'query', id: 9, questions: [{ type: 'A', name: 'unknown.default.svc' }] }));
  const [answer] = (await once(valid, 'data')) as [Buffer];
  expect(streamDecode(answer).id).toBe(9);
  valid.destroy();
  server.close();
});
