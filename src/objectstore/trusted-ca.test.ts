import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeAuthority } from '../std/pki.ts';
import { openStore } from './open.ts';

const server = createServer((_request, response) => response.writeHead(200, { 'content-length': '7' }).end());
let authority = '';

beforeAll(async () => {
  const made = await makeAuthority('test');
  authority = made.certificate;
  const { certificate, key } = await made.issue({ commonName: 'localhost', dns: ['localhost'] });
  server.setSecureContext({ cert: certificate, key });
  await once(server.listen(0), 'listening');
});
afterAll(() => void server.close());

async function sizeWith(more: Readonly<Record<string, string>>): Promise<number> {
  const endpoint = `https://localhost:${(server.address() as AddressInfo).port}`;
  const keys = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_REGION: 'r', ...more };
  const credentials = { secret: 'minio', directory: '/nowhere', keys: new Map(Object.entries(keys)) };
  using store = await openStore({ kind: 's3', bucket: 'b', endpoint, pathStyle: true }, { credentials });
  return (await store.head('k')).size;
}

it('a store with a private CA is trusted only if the Secret contains that CA', async () => {
  await expect(sizeWith({})).rejects.toThrow(/certificate/);
  await expect(sizeWith({ 'ca.crt': 'nonsense' })).rejects.toThrow(
    'key "ca.crt" of Secret "minio" is not a certificate',
  );
  expect(await sizeWith({ 'ca.crt': `${authority}\n` })).toBe(7);
});
