import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasEtcdutl } from '../../src/core/cluster/model/version.ts';
import type { EtcdConnection } from '../../src/etcd/client.ts';
import { run } from '../../tools/lib/run.ts';
import { etcdProgram } from '../../tools/programs/build.ts';
import type { EtcdVersion } from '../../tools/programs/catalog.ts';
import { agent } from '../support/agent.ts';
import { EtcdCluster, startEtcd } from '../support/etcd-cluster.ts';
import { agentFlags, type StoreServer, startVolume } from '../support/store-servers.ts';
import { until } from '../support/until.ts';

let volume: StoreServer;
beforeAll(async () => {
  volume = await startVolume();
});
afterAll(() => volume[Symbol.asyncDispose]());

const keysAndRevisions = async (etcd: EtcdConnection): Promise<readonly string[]> =>
  (await etcd.list({ key: 'key/', prefix: true })).map(({ key, value, createRevision, modRevision }) =>
    [key, Buffer.from(value), createRevision, modRevision].map(String).join(' '),
  );

/** Runs the steps of a restored member's pod with the tools of that version, then starts etcd. */
async function restoredInto(version: EtcdVersion, key: string): Promise<readonly string[]> {
  await using cluster = new EtcdCluster({ version }, undefined);
  const member = await cluster.prepareMember();
  const place = join(cluster.directory, member.name);
  const staging = join(place, 'restore');
  const file = join(staging, 'snapshot.db');
  const fetched = await agent(volume.directory, 'fetch', [
    ...agentFlags(volume, key),
    ...['--target-version', version, '--clear', staging, '--to', file],
  ]);
  expect(fetched).toMatchObject({ ok: true });
  const args = [
    ...['snapshot', 'restore', file, `--data-dir=${staging}/data`, `--name=${member.name}`],
    `--initial-cluster=${member.name}=${member.peerURL}`,
    `--initial-advertise-peer-urls=${member.peerURL}`,
  ];
  await run(etcdProgram(version, hasEtcdutl(version) ? 'etcdutl' : 'etcdctl'), args, { env: { ETCDCTL_API: '3' } });
  expect(await agent(volume.directory, 'place', ['--staging', staging, '--to', place])).toMatchObject({ placed: true });
  member.start({ state: 'new', members: [member] });
  await cluster.settled();
  return await keysAndRevisions(cluster.connect()); // `await` before `using` stops the cluster
}

type Saving = 'save' | 'etcdctl';
const ways: readonly (readonly [EtcdVersion, EtcdVersion, Saving])[] = [
  ['3.3.12', '3.3.12', 'save'],
  ['3.4.31', '3.5.35', 'etcdctl'],
  ['3.5.35', '3.6.16', 'save'],
  ['3.6.16', '3.7.3', 'etcdctl'],
];

describe.each(ways)('a snapshot of etcd %s restored into etcd %s', (from, into, how) => {
  it(`has the same keys, values and revisions if saved by ${how}`, async () => {
    await using cluster = await startEtcd({ version: from });
    const etcd = cluster.connect();
    for (let i = 0; i < 20; i++) await etcd.put(`key/${i % 15}`, `value ${i}`);
    const before = await keysAndRevisions(etcd);
    const key = `${from}.db`;
    if (how === 'etcdctl') await cluster.etcdctl('snapshot', 'save', join(volume.volume ?? '', key));
    else
      expect(
        await agent(volume.directory, 'save', [
          ...agentFlags(volume, key),
          ...['--endpoints', cluster.member(0).endpoint.url],
        ]),
      ).toMatchObject({ ok: true });
    expect(await restoredInto(into, key)).toEqual(before);
  });
});

describe('a snapshot saved by etcdctl, without a manifest', () => {
  const storageVersions: readonly (readonly [EtcdVersion, EtcdVersion, string | undefined])[] = [
    ['3.4.31', '3.3.12', undefined],
    ['3.5.35', '3.4.31', undefined],
    ['3.6.16', '3.5.35', '3.6.0'],
    ['3.7.3', '3.6.16', '3.7.0'],
  ];
  it.each(storageVersions)(
    'of etcd %s, fetched for etcd %s, has storage version %s',
    async (from, older, storageVersion) => {
      await using cluster = await startEtcd({ version: from });
      const etcd = cluster.connect();
      for (let i = 0; i < 2000; i++) await etcd.put(`key/${i}`, Buffer.alloc(1000, `${i} `));
      const key = `unlabelled-${from}.db`;
      const place = join(volume.volume ?? '', key);
      const to = join(cluster.directory, 'fetched.db');
      const fetched = (version: EtcdVersion) =>
        agent(volume.directory, 'fetch', [...agentFlags(volume, key), '--to', to, '--target-version', version]);
      // etcd writes its storage version a moment after the members agree on a cluster version.
      await until('the snapshot has the expected storage version', async () => {
        await cluster.etcdctl('snapshot', 'save', place);
        return (await fetched(from))?.['storageVersion'] === storageVersion ? true : undefined;
      });
      const result = await fetched(older);
      if (storageVersion === undefined)
        expect(result).toMatchObject({
          ok: true,
          warnings: ['the etcd version of this snapshot is unknown: it has neither a manifest nor a storage version'],
        });
      else
        expect(result).toMatchObject({
          ...{ ok: false, trouble: 'too-new', mayPass: false },
          message: expect.stringContaining(`needs etcd ${storageVersion}, but the target is etcd ${older}`),
        });
    },
  );
});
