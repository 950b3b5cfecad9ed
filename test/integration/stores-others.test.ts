import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openOn, startAzure, startGcs, startVolume } from '../support/store-servers.ts';
import { bytes, keepsTheStoreContract, large, survivesItsServer } from './stores.contract.ts';

keepsTheStoreContract('GCS', startGcs);
survivesItsServer('GCS', startGcs);
keepsTheStoreContract('Azure', startAzure);
survivesItsServer('Azure', startAzure);
keepsTheStoreContract('a volume', startVolume);

describe('GCS', () => {
  it('says what is wrong with the file in its Secret', async () => {
    await using server = await startGcs();
    const opening = openOn(server, { secret: { 'credentials.json': 'not json' } });
    await expect(opening).rejects.toThrow(/key "credentials.json" of Secret "store-secret" is not JSON/);
  });
});

describe('Azure', () => {
  it('names the Secret and its keys when the account key is wrong, missing or none', async () => {
    await using server = await startAzure();
    const account = { 'storage-account': 'devstoreaccount1' };
    const key = Buffer.alloc(64, 'wrong').toString('base64');
    using store = await openOn(server, { secret: { ...account, 'storage-key': key } });
    await expect(store.put('a', bytes('x'))).rejects.toMatchObject({
      trouble: 'denied',
      message: expect.stringContaining('key "storage-account" and key "storage-key" of Secret "store-secret"'),
    });
    await expect(openOn(server, { secret: account })).rejects.toThrow(/nothing under "storage-key"/);
    const cloud = { ...account, 'storage-key': key, cloud: 'Nowhere' };
    const { endpoint: _, ...address } = server.address;
    const elsewhere = openOn({ ...server, address }, { secret: cloud });
    await expect(elsewhere).rejects.toThrow(/"Nowhere" is no cloud of Azure's/);
  });
});

describe('a volume', () => {
  it('does not follow links that lead out of it', async () => {
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

  it('shows no file that a killed writer left, and clears it away after a day', async () => {
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

  it('takes a directory for no object', async () => {
    await using server = await startVolume();
    mkdirSync(join(server.volume ?? '', 'directory'));
    using store = await openOn(server);
    await expect(store.get('directory')).rejects.toMatchObject({ trouble: 'no-object' });
    await expect(store.put('directory', bytes('x'))).rejects.toMatchObject({ kind: 'rejected' });
  });

  it('says where it should have been mounted', async () => {
    await using server = await startVolume();
    await expect(openOn({ ...server, volume: '/no/such/place' })).rejects.toThrow(/"backups" is not mounted at/);
  });
});
