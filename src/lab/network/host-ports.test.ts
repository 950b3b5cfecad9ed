import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { HostPorts, portsIn } from './host-ports.ts';

const place = mkdtempSync(join(tmpdir(), 'host-ports-'));
afterAll(() => rmSync(place, { recursive: true }));

const client = 'default/db-client:2379';
const addressOf = (server: Server): AddressInfo => server.address() as AddressInfo;

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}

it('gives a service a port of loopback, and the same one after a restart', async () => {
  const state = join(place, 'kept');
  expect(portsIn(state)).toEqual({});
  const first = await new HostPorts(state).listen(client);
  const { address, port } = addressOf(first);
  expect(address).toBe('127.0.0.1');
  expect(portsIn(state)).toEqual({ [client]: port });
  await close(first);
  const second = await new HostPorts(state).listen(client);
  expect(addressOf(second).port).toBe(port);
  await close(second);
});

it('gives it another one where that is taken, and remembers which', async () => {
  const state = join(place, 'taken');
  const taken = await new HostPorts(state).listen(client);
  const other = await new HostPorts(state).listen(client);
  expect(addressOf(other).port).not.toBe(addressOf(taken).port);
  expect(portsIn(state)).toEqual({ [client]: addressOf(other).port });
  await Promise.all([close(taken), close(other)]);
});

it('forgets the ports of services that are gone', async () => {
  const state = join(place, 'gone');
  const ports = new HostPorts(state);
  const servers = [await ports.listen(client), await ports.listen('default/other:80')];
  ports.keepOnly(new Set([client]));
  expect(Object.keys(portsIn(state))).toEqual([client]);
  await Promise.all(servers.map(close));
});
