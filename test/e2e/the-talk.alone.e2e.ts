import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { improbable } from '../support/apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { installFor } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';

const root = join(import.meta.dirname, '../..');
const others = 'etcd.database.coreos.com';
const slide = (file: string): string => readFileSync(join(root, 'examples/improbable', file), 'utf8');

story.inFull('the listener of the talk sees what its slides show', async (told) => {
  const { kubectl, step, namespace } = told;
  const db = declaredIn(improbable)(kubectl, 'my-etcd');
  const shared = (pod: string) => `${pod}.my-etcd.${namespace}.svc`;
  const kinds = ['etcdclusters', 'etcdbackups', 'etcdrestores'];
  await kubectl(`delete crd ${kinds.map((kind) => `${kind}.${others}`).join(' ')} --ignore-not-found`);
  try {
    await step('the kinds are there, and no others of their name', async () => {
      await until('the API server shows them', async () => {
        const resources = await kubectl('api-resources');
        expect(resources).toMatch(/etcdclusters +ietcd +etcd.improbable.io\/v1alpha1 +true +EtcdCluster/);
        expect(resources).toMatch(/etcdpeers +ipeer +etcd.improbable.io\/v1alpha1 +true +EtcdPeer/);
        return !resources.includes(others) || undefined;
      });
      await installFor(improbable, told);
    });
    await step('replicas: 3 is all that has to be said', async () => {
      expect(await kubectl('apply -f -', { input: slide('my-etcd.yaml') })).toBe(
        'etcdcluster.etcd.improbable.io/my-etcd created\n',
      );
      await db.settled(3);
      expect(await db.podNames()).toEqual(['my-etcd-0', 'my-etcd-1', 'my-etcd-2']);
    });
    await step('the EtcdPeers are those of the slide', async () => {
      const { spec } = await kubectl.json<{ spec: { clusterName: string; bootstrap: object } }>(
        'get etcdpeer my-etcd-0',
      );
      expect(spec.clusterName).toBe('my-etcd');
      const initialCluster = ['my-etcd-0', 'my-etcd-1', 'my-etcd-2'].map((name) => ({ name, host: shared(name) }));
      expect(spec.bootstrap).toEqual({ initialClusterState: 'New', static: { initialCluster } });
    });
    await step('clients find the members by the names in DNS', async () => {
      const domain = `my-etcd.${namespace}.svc.cluster.local`;
      const etcdctl = (words: string): Promise<string> =>
        kubectl(`exec my-etcd-1 -- etcdctl --discovery-srv ${domain} ${words}`);
      await until('a key is put', async () => (await etcdctl('put foo bar')).includes('OK') || undefined);
      expect(await etcdctl('get foo')).toBe('foo\nbar\n');
      const list = await etcdctl('member list');
      for (const pod of await db.podNames()) expect(list).toContain(`http://${shared(pod)}:2380`);
    });
    await step('kubectl scale etcdcluster my-etcd --replicas 5', async () => {
      expect(await kubectl('scale etcdcluster my-etcd --replicas 5')).toBe(
        'etcdcluster.etcd.improbable.io/my-etcd scaled\n',
      );
      await db.settled(5);
      const { spec } = await kubectl.json<{ spec: { bootstrap: object } }>('get etcdpeer my-etcd-3');
      expect(spec.bootstrap).toMatchObject({ initialClusterState: 'Existing' });
      expect(JSON.stringify(spec.bootstrap)).toContain(`"host":"${shared('my-etcd-3')}"`);
    });
    await step('kubectl scale etcdcluster my-etcd --replicas 1', async () => {
      expect(await kubectl('scale etcdcluster my-etcd --replicas 1')).toBe(
        'etcdcluster.etcd.improbable.io/my-etcd scaled\n',
      );
      await db.settled(1);
      await until('the lowest number is left', async () => (await db.podNames()).join() === 'my-etcd-0' || undefined);
      const left = ['my-etcd-1', 'my-etcd-2', 'my-etcd-3', 'my-etcd-4'].map((name) => `etcdpeer/${name}`).join(' ');
      await kubectl(`wait ${left} --for=delete --timeout=30s`);
      expect(await kubectl('exec my-etcd-0 -- etcdctl get foo')).toBe('foo\nbar\n');
    });
    await step('what it cannot be is refused, and what it may leave out is filled in', async () => {
      const dryRun = (spec: object): { words: string; input: string } => ({
        words: 'create --dry-run=server -o json -f -',
        input: JSON.stringify({
          ...{ apiVersion: improbable.apiVersion, kind: 'EtcdCluster', metadata: { name: 'another' } },
          spec: { replicas: 3, ...spec },
        }),
      });
      const good = dryRun({});
      expect(JSON.parse(await kubectl(good.words, { input: good.input }))).toMatchObject({
        spec: { storage: { volumeClaimTemplate: { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem' } } },
      });
      const bad = dryRun({ version: '2.3.8' });
      expect(await kubectl.refused(bad.words, { input: bad.input })).toContain('only Etcd version 3 is supported');
    });
  } finally {
    for (const program of ['operator', 'backup-operator', 'restore-operator'])
      await kubectl(`apply --server-side -f ${join(root, `examples/coreos/etcd-${program}-crd.yaml`)}`);
    // kubectl keeps what it knows of kinds, and asks again when it is asked for all of them.
    await until('they are there again', async () => {
      const resources = await kubectl(`api-resources --api-group=${others} -o name`);
      return kinds.every((kind) => resources.includes(kind)) || undefined;
    });
  }
});
