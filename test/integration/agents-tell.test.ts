import { inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ObjectStore } from '../../src/storage/store.ts';
import { agent } from '../support/agent.ts';
import { startEtcd } from '../support/etcd-cluster.ts';
import { agentFlags, openOn, type StoreServer, startVolume } from '../support/store-servers.ts';

let volume: StoreServer;
let store: ObjectStore;
beforeAll(async () => {
  volume = await startVolume();
  store = await openOn(volume);
});
afterAll(async () => {
  store[Symbol.dispose]();
  await volume[Symbol.asyncDispose]();
});

async function* bytes(content: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content);
}
const prove = (key: string, ...more: readonly string[]): Promise<Record<string, unknown> | undefined> =>
  agent(volume.directory, 'prove', [...agentFlags(volume, key), ...more]);

it('names what there is in place of an object that is not there', async () => {
  for (const key of ['daily/db_v1', 'daily/db_v2', 'daily/db_v2.manifest.json', 'other/db'])
    await store.put(key, bytes(key));
  const says = async (key: string): Promise<unknown> => (await prove(key))?.['message'];
  expect(await says('daily/db')).toMatch(/; what begins with "daily\/db" there: daily\/db_v[12], daily\/db_v[12]$/);
  expect(await says('daily/db_v3')).toMatch(/; what begins with "daily\/" there: daily\/db_v[12], daily\/db_v[12]$/);
  expect(await says('nowhere/db')).not.toContain('what begins with');
});

it('tells what the cluster was, where it is asked and the snapshot is that of the manifest', async () => {
  await using etcd = await startEtcd({ version: '3.6.16' });
  const cluster = {
    ...{ apiVersion: 'g/v1', kind: 'EtcdCluster', namespace: 'n', name: 'db' },
    spec: { size: 3, words: 'word '.repeat(1000) },
  };
  const about = ['--about', JSON.stringify({ cluster }), '--endpoints', etcd.member(0).endpoint.url];
  const save = (key: string) => agent(volume.directory, 'save', [...agentFlags(volume, key), ...about]);
  expect(await save('told.db')).toMatchObject({ ok: true });
  const told = await prove('told.db', '--tell-cluster');
  const packed = Buffer.from(String(told?.['cluster']), 'base64');
  expect(JSON.parse(inflateRawSync(packed).toString())).toEqual({ apiVersion: 'g/v1', spec: cluster.spec });
  expect(await prove('told.db')).not.toHaveProperty('cluster');
  await etcd.connect().put('key', 'later');
  expect(await save('other.db')).toMatchObject({ ok: true });
  await store.put('other.db.manifest.json', (await store.get('told.db.manifest.json')).body);
  expect(await prove('other.db', '--tell-cluster')).not.toHaveProperty('cluster');
});

it('does not fetch what was taken for another snapshot, where somebody has relied upon the manifest', async () => {
  await using etcd = await startEtcd({ version: '3.6.16' });
  const save = (key: string) =>
    agent(volume.directory, 'save', [...agentFlags(volume, key), '--endpoints', etcd.member(0).endpoint.url]);
  const fetch = (key: string) => {
    const to = `${volume.directory}/${key}`;
    return agent(volume.directory, 'fetch', [...agentFlags(volume, key), '--to', to, '--as-described']);
  };
  expect(await save('first.db')).toMatchObject({ ok: true });
  expect(await fetch('first.db')).toMatchObject({ ok: true });
  await etcd.connect().put('key', 'later');
  expect(await save('second.db')).toMatchObject({ ok: true });
  await store.put('second.db.manifest.json', (await store.get('first.db.manifest.json')).body);
  expect(await fetch('second.db')).toMatchObject({ ok: false, trouble: 'damaged', mayPass: false });
});
