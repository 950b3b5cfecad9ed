import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import { improbable, manifestOf } from '../support/apis.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installFor } from '../support/operator.ts';
import { type StoryContext, story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const peers = 'etcdpeers.etcd.improbable.io';
const [old, next] = ['3.5.21', '3.5.35'] as const;

/** etcdctl in a pod. It finds the members with the SRV records of the cluster's Service. */
const etcdctlIn =
  (kubectl: Kubectl, namespace: string) =>
  (args: string): Promise<string> =>
    until(args, () => kubectl(`exec db-0 -- etcdctl --discovery-srv db.${namespace}.svc.cluster.local ${args}`));

/** Server-side dry runs: the object is validated and not stored. */
const dryRun = (kubectl: Kubectl) => ({
  accepts: (object: object): Promise<string> =>
    kubectl('create --dry-run=server -o json -f -', { input: JSON.stringify(object) }),
  refuses: (object: object): Promise<string> =>
    kubectl.refused('create --dry-run=server -f -', { input: JSON.stringify(object) }),
});

async function validates(kubectl: Kubectl, db: DeclaredCluster): Promise<void> {
  const { accepts, refuses } = dryRun(kubectl);
  const cluster = (spec: object): object => ({
    ...{ apiVersion: improbable.apiVersion, kind: 'EtcdCluster', metadata: { name: 'another' } },
    spec: { replicas: 3, ...spec },
  });
  const claim = { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem' };
  const defaults = { spec: { storage: { volumeClaimTemplate: claim } } };
  const storage = { volumeClaimTemplate: { resources: { requests: { storage: '1Gi' } } } };
  const peer = { apiVersion: improbable.apiVersion, kind: 'EtcdPeer', metadata: { name: 'another-0' } };
  expect(JSON.parse(await accepts(cluster({ storage })))).toMatchObject(defaults);
  expect(JSON.parse(await accepts({ ...peer, spec: { clusterName: 'another', storage } }))).toMatchObject(defaults);
  expect(await refuses(cluster({ version: '2.3.8' }))).toContain('only Etcd version 3 is supported');
  expect(await refuses(cluster({ storage: { volumeClaimTemplate: {} } }))).toContain('resources: Required value');
  const annotations = { 'etcd.improbable.io/mine': '' };
  expect(await refuses(cluster({ podTemplate: { metadata: { annotations } } }))).toContain('reserved name');
  const smaller = { spec: { storage: { volumeClaimTemplate: { resources: { requests: { storage: '1Mi' } } } } } };
  const patched = `patch ${db.resource} --dry-run=server --type=merge -p '${JSON.stringify(smaller)}'`;
  expect(await kubectl.refused(patched)).toContain('a volume can grow but not shrink');
  await kubectl(`scale ${db.resource} --replicas=9 --dry-run=server`);
  expect(await fieldOf(kubectl, db.resource, '.spec.replicas')).toBe('4');
  expect(await kubectl(`get ${improbable.resource},${peers} -o name`)).not.toContain('another');
}

/** A cluster of three members of this version, as in the original's e2e tests. */
async function threeOf(version: string, { kubectl, namespace }: Pick<StoryContext, 'kubectl' | 'namespace'>) {
  const db = declaredIn(improbable)(kubectl);
  await installFor(improbable, { kubectl, namespace });
  await db.apply({ size: 3, version });
  await db.settled(3);
  const scaled = async (size: number): Promise<void> => {
    await kubectl(`scale ${db.resource} --replicas=${size}`);
    await waitFor(kubectl, db.resource, inSeconds(120, field('.status.replicas', size)));
    await db.settled(size);
  };
  return { db, scaled, etcdctl: etcdctlIn(kubectl, namespace) };
}

story.asOnTheLab("the checks of the original's SampleCluster, Webhooks and Version e2e tests pass", async (context) => {
  const { kubectl, step } = context;
  const { db, scaled, etcdctl } = await threeOf(old, context);
  await step('SampleCluster: three members accept a key, and kubectl scale adds a fourth', async () => {
    expect(await etcdctl('put foo bar')).toBe('OK\n');
    expect((await db.status())['members']).toHaveLength(3);
    await scaled(4);
    const list = JSON.parse(await etcdctl('member list -w json')) as { members: readonly object[] };
    const whole = { ID: expect.anything(), name: expect.stringMatching(/^db-[0-3]$/) };
    const urls = { clientURLs: [expect.stringContaining('http')], peerURLs: [expect.stringContaining('http')] };
    expect(list.members).toEqual(Array.from({ length: 4 }, () => ({ ...whole, ...urls })));
  });
  await step('Webhooks: dry runs show defaults and refusals', () => validates(kubectl, db));
  await step('Version: the status has the running version, before and after an upgrade', async () => {
    const runs = async (version: string): Promise<void> => {
      for (const peer of ['db-0', 'db-1', 'db-2', 'db-3'])
        await waitFor(kubectl, `${peers}/${peer}`, inSeconds(120, field('.status.serverVersion', version)));
      await db.settled(4);
      expect(await db.status()).toMatchObject({ clusterVersion: '3.5.0', serverVersion: version });
    };
    await runs(old);
    await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"version":"${next}"}}'`);
    await runs(next);
    expect(await etcdctl('get foo')).toBe('foo\nbar\n');
  });
});

story.asOnTheLab("the checks of the original's ScaleDown and Persistence e2e tests pass", async (context) => {
  const { kubectl, step } = context;
  const { db, scaled, etcdctl } = await threeOf(next, context);
  await step('ScaleDown: one member has the data', async () => {
    expect(await etcdctl('put foo bar')).toBe('OK\n');
    await scaled(1);
    expect(await etcdctl('get foo')).toBe('foo\nbar\n');
  });
  await step('Persistence: a deleted and recreated cluster has the data', async () => {
    await kubectl(`delete ${db.resource}`);
    await waitForDeletion(kubectl, `pods -l ${db.label}`);
    await kubectl('apply -f -', { input: manifestOf('db', { size: 1, version: next }, improbable) });
    await db.settled(1);
    expect(await etcdctl('get foo')).toBe('foo\nbar\n');
  });
  await step('ScaleDown: scaled up to three, the cluster accepts another key', async () => {
    await scaled(3);
    expect(await etcdctl('put more data')).toBe('OK\n');
    expect(await etcdctl('get --prefix --keys-only ""')).toMatch(/foo\s+more/);
  });
});
