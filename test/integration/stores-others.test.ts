import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openOrSuggest } from '../../src/agent/candidates.ts';
import { openStore } from '../../src/objectstore/open.ts';
import { openOn, startAzure, startGcs, startVolume } from '../support/store-servers.ts';
import { bytes, large, testServerFailures, testStoreContract } from './stores.contract.ts';

testStoreContract('GCS', startGcs);
testServerFailures('GCS', startGcs);
testStoreContract('Azure', startAzure);
testServerFailures('Azure', startAzure);
testStoreContract('a volume', startVolume);

describe('GCS', () => {
  it('rejects credentials that are not JSON and names the key of the Secret', async () => {
    await using server = await startGcs();
    const opening = openOn(server, { secret: { 'credentials.json': 'not json' } });
    await expect(opening).rejects.toThrow(/key "credentials.json" of Secret "store-secret" is not JSON/);
  });
});

describe('an object of the original improbable operator in GCS, with a leading "/" in its key', () => {
  it('is found by the key of its URL, and other keys are not', async () => {
    await using server = await startGcs();
    using store = await openOn(server);
    await store.put('p/other.db', bytes('x'));
    const { endpoint, bucket } = server.address;
    const upload = `${endpoint}/upload/storage/v1/b/${bucket}/o?uploadType=media&name=${encodeURIComponent('/p/x.db')}`;
    expect((await fetch(upload, { method: 'POST', body: 'kept' })).status).toBe(200);
    const open = (key: string) => openOrSuggest(store, { store: server.address, key }, new AbortController().signal);
    const { body } = await open('p/x.db');
    expect(Buffer.concat(await Array.fromAsync(body)).toString()).toBe('kept');
    await expect(open('p/y.db')).rejects.toMatchObject({
      ...{ trouble: 'no-object', message: expect.stringContaining('"p/y.db"') },
    });
  });
});

describe('Azure', () => {
  it('names the Secret and its keys if the account key is wrong or missing, and rejects an unknown cloud', async () => {
    await using server = await startAzure();
    const account = { 'storage-account': 'devstoreaccount1' };
    const key = Buffer.alloc(64, 'wrong').toString('base64');
    using store = await openOn(server, { secret: { ...account, 'storage-key': key } });
    await expect(store.put('a', bytes('x'))).rejects.toMatchObject({
      trouble: 'denied',
      message: expect.stringContaining('key "storage-account" and key "storage-key" of Secret "store-secret"'),
    });
    await expect(openOn(server, { secret: account })).rejects.toThrow(/no value for "storage-key"/);
    const cloud = { ...account, 'storage-key': key, cloud: 'Nowhere' };
    const { endpoint: _, ...address } = server.address;
    const elsewhere = openOn({ ...server, address }, { secret: cloud });
    await expect(elsewhere).rejects.toThrow(/"Nowhere" is not a cloud of Azure/);
  });
});

it('requests to Azure carry no timeout parameter, so large objects can take their time', async () => {
  const requestUrls: string[] = [];
  const listener = createServer((request, response) => {
    requestUrls.push(request.url ?? '');
    response
      .writeHead(200, { 'content-length': 4, 'last-modified': new Date(0).toUTCString(), etag: '"e"' })
      .end('kept');
  });
  await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening));
  const { port } = listener.address() as { port: number };
  const keys = new Map([
    ['storage-account', 'account'],
    ['storage-key', Buffer.alloc(64).toString('base64')],
  ]);
  const address = { kind: 'azblob', bucket: 'backups', endpoint: `http://127.0.0.1:${port}/account` } as const;
  using store = await openStore(address, { credentials: { secret: 's', directory: '/', keys } });
  const { body } = await store.get('large');
  expect(Buffer.concat(await Array.fromAsync(body)).toString()).toBe('kept');
  expect(requestUrls).toEqual([expect.not.stringContaining('timeout=')]);
  listener.close();
  listener.closeAllConnections();
});

describe('a volume', () => {
  it('does not follow symbolic links that lead out of it', async () => {
    await using server = await startVolume();
    const volume = server.volume ?? '';
    writeFileSync(join(server.directory, 'secret'), 'x');
    symlinkSync(join(server.directory, 'secret'), join(volume, 'link'));
    symlinkSync(server.directory, join(volume, 'out'));
    using store = await openOn(server);
    await expect(store.get('link')).rejects.toMatchObject({ trouble: 'denied' });
    await expect(store.put('out/file', bytes('x'))).rejects.toMatchObject({ trouble: 'denied' });
    await expect(store.delete('link')).rejects.toMatchObject({ trouble: 'denied' });
  });

  it('hides unfinished files of a killed writer and deletes them after a day', async () => {
    await using server = await startVolume();
    const volume = server.volume ?? '';
    const left = ['.0123456789abcdef.unfinished', '.fedcba9876543210.unfinished'];
    for (const name of left) writeFileSync(join(volume, name), 'half');
    const dayBefore = Date.now() / 1000 - 25 * 3600;
    utimesSync(join(volume, left[0] ?? ''), dayBefore, dayBefore);
    using store = await openOn(server);
    await store.put('a', large(1));
    expect((await Array.fromAsync(store.list(''))).map(({ key }) => key)).toEqual(['a']);
    expect(readdirSync(volume).toSorted()).toEqual([left[1], 'a']);
  });

  it('does not treat a directory as an object', async () => {
    await using server = await startVolume();
    mkdirSync(join(server.volume ?? '', 'directory'));
    using store = await openOn(server);
    await expect(store.get('directory')).rejects.toMatchObject({ trouble: 'no-object' });
    await expect(store.put('directory', bytes('x'))).rejects.toMatchObject({ kind: 'rejected' });
  });

  it('that is not mounted is rejected with its mount path', async () => {
    await using server = await startVolume();
    await expect(openOn({ ...server, volume: '/no/such/place' })).rejects.toThrow(/"backups" is not mounted at/);
  });
});
