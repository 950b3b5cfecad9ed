import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { HostPorts, readHostPorts } from './host-ports.ts';

const place = mkdtempSync(join(tmpdir(), 'host-ports-'));
afterAll(() => rmSync(place, { recursive: true }));

const client = 'default/db-client:2379';
const addressOf = (server: Server): AddressInfo => server.address() as AddressInfo;

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}

it('a Service gets a loopback port and keeps it after a restart', async () => {
  const state = join(place, 'kept');
  expect(readHostPorts(state)).toEqual({});
  const first = await new HostPorts(state).listen(client);
  const { address, port } = addressOf(first);
  expect(address).toBe('127.0.0.1');
  expect(readHostPorts(state)).toEqual({ [client]: port });
  await close(first);
  const second = await new HostPorts(state).listen(client);
  expect(addressOf(second).port).toBe(port);
  await close(second);
});

it('a Service gets another port if its own is taken, and keeps that one', async () => {
  const state = join(place, 'taken');
  const taken = await new HostPorts(state).listen(client);
  const other = await new HostPorts(state).listen(client);
  expect(addressOf(other).port).not.toBe(addressOf(taken).port);
  expect(readHostPorts(state)).toEqual({ [client]: addressOf(other).port });
  await Promise.all([close(taken), close(other)]);
});

it('the port of a deleted Service is forgotten', async () => {
  const state = join(place, 'gone');
  const ports = new HostPorts(state);
  const servers = [await ports.listen(client), await ports.listen('default/other:80')];
  ports.keepOnly(new Set([client]));
  expect(Object.keys(readHostPorts(state))).toEqual([client]);
  await Promise.all(servers.map(close));
});
