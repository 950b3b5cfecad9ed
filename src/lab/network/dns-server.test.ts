import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { streamDecode, streamEncode } from 'dns-packet';
import { expect, it } from 'vitest';
import { serve } from './dns-server.ts';
import { namesOf } from './names.ts';

const names = namesOf({ services: [], slices: [] });

it('leaves a connection that speaks no DNS, and serves the next', async () => {
  const server = createServer((socket) => serve(socket, () => names)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const rude = connect(port, '127.0.0.1');
  rude.write(Buffer.of(0, 1, 7));
  await once(rude, 'close');
  const polite = connect(port, '127.0.0.1');
  polite.write(streamEncode({ type: 'query', id: 9, questions: [{ type: 'A', name: 'nobody.default.svc' }] }));
  const [answer] = (await once(polite, 'data')) as [Buffer];
  expect(streamDecode(answer).id).toBe(9);
  polite.destroy();
  server.close();
});
