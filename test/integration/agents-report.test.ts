import { inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ObjectStore } from '../../src/objectstore/store.ts';
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

it('the agent lists keys with the same prefix if the requested object is missing', async () => {
  for (const key of ['daily/db_v1', 'daily/db_v2', 'daily/db_v2.manifest.json', 'other/db'])
    await store.put(key, bytes(key));
  const messageFor = async (key: string): Promise<unknown> => (await prove(key))?.['message'];
  expect(await messageFor('daily/db')).toMatch(
    /; objects that begin with "daily\/db": daily\/db_v[12], daily\/db_v[12]$/,
  );
  expect(await messageFor('daily/db_v3')).toMatch(
    /; objects that begin with "daily\/": daily\/db_v[12], daily\/db_v[12]$/,
  );
  expect(await messageFor('nowhere/db')).not.toContain('objects that begin with');
});

it('the agent reports the cluster spec of the manifest if asked, and only if the manifest matches the snapshot', async () => {
  await using etcd = await startEtcd({ version: '3.6.16' });
  const cluster = {
    ...{ apiVersion: 'g/v1', kind: 'EtcdCluster', namespace: 'n', name: 'db' },
    spec: { size: 3, padding: 'word '.repeat(1000) },
  };
  const about = ['--about', JSON.stringify({ cluster }), '--endpoints', etcd.member(0).endpoint.url];
  const save = (key: string) => agent(volume.directory, 'save', [...agentFlags(volume, key), ...about]);
  expect(await save('reported.db')).toMatchObject({ ok: true });
  const reported = await prove('reported.db', '--report-cluster');
  const packed = Buffer.from(String(reported?.['cluster']), 'base64');
  expect(JSON.parse(inflateRawSync(packed).toString())).toEqual({ apiVersion: 'g/v1', spec: cluster.spec });
  expect(await prove('reported.db')).not.toHaveProperty('cluster');
  await etcd.connect().put('key', 'later');
  expect(await save('other.db')).toMatchObject({ ok: true });
  await store.put('other.db.manifest.json', (await store.get('reported.db.manifest.json')).body);
  expect(await prove('other.db', '--report-cluster')).not.toHaveProperty('cluster');
});

it('the agent with --require-manifest rejects a snapshot whose manifest belongs to another snapshot', async () => {
  await using etcd = await startEtcd({ version: '3.6.16' });
  const save = (key: string) =>
    agent(volume.directory, 'save', [...agentFlags(volume, key), '--endpoints', etcd.member(0).endpoint.url]);
  const fetch = (key: string) => {
    const to = `${volume.directory}/${key}`;
    return agent(volume.directory, 'fetch', [...agentFlags(volume, key), '--to', to, '--require-manifest']);
  };
  expect(await save('first.db')).toMatchObject({ ok: true });
  expect(await fetch('first.db')).toMatchObject({ ok: true });
  await etcd.connect().put('key', 'later');
  expect(await save('second.db')).toMatchObject({ ok: true });
  await store.put('second.db.manifest.json', (await store.get('first.db.manifest.json')).body);
  expect(await fetch('second.db')).toMatchObject({ ok: false, trouble: 'damaged', mayPass: false });
});
