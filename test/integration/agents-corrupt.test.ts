import { describe, expect, it } from 'vitest';
import type { EtcdVersion } from '../../tools/programs/catalog.ts';
import { agent } from '../support/agent.ts';
import { type EtcdCluster, startEtcd } from '../support/etcd-cluster.ts';
import { agentFlags, openOn, startVolume } from '../support/store-servers.ts';

const versions: readonly EtcdVersion[] = ['3.3.12', '3.5.35', '3.7.3'];

/** Raises or clears an alarm through etcd's JSON gateway, as etcd's own corruption check does. */
async function alarm(cluster: EtcdCluster, version: EtcdVersion, request: object): Promise<void> {
  const api = version === '3.3.12' ? 'v3beta' : 'v3';
  const url = `${cluster.member(0).endpoint.url}/${api}/maintenance/alarm`;
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(request) });
  expect(answer.status, await answer.text()).toBe(200);
}

describe.each(versions)('a backup of etcd %s', (version) => {
  it('fails while a CORRUPT alarm is raised, and succeeds with a NOSPACE alarm only', async () => {
    const cluster = await startEtcd({ version });
    await using volume = await startVolume();
    const { memberId } = await cluster.connect().status();
    const endpoints = ['--endpoints', cluster.member(0).endpoint.url];
    const saved = (key: string) => agent(volume.directory, 'save', [...agentFlags(volume, key), ...endpoints]);
    const named = { memberID: String(memberId), alarm: 'CORRUPT' };
    await alarm(cluster, version, { action: 'ACTIVATE', memberID: String(memberId), alarm: 'NOSPACE' });
    expect(await saved('full.db')).toMatchObject({ ok: true, warnings: [] });
    await alarm(cluster, version, { action: 'ACTIVATE', ...named });
    expect(await saved('corrupt.db')).toMatchObject({
      ...{ ok: false, trouble: 'corrupt', mayPass: false },
      message: expect.stringContaining(`CORRUPT for member ${memberId.toString(16)}, and no other member answered`),
    });
    using store = await openOn(volume);
    expect((await Array.fromAsync(store.list('corrupt'))).length).toBe(0);
    await alarm(cluster, version, { action: 'DEACTIVATE', ...named });
    await alarm(cluster, version, { action: 'ACTIVATE', alarm: 'CORRUPT' });
    expect(await saved('unnamed.db')).toMatchObject({
      ...{ ok: false, message: expect.stringContaining('CORRUPT for the whole cluster') },
    });
    await cluster.stop();
  });
});
