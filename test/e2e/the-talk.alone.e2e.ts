import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { improbable } from '../support/apis.ts';
import { declaredIn } from '../support/cluster.ts';
import { installFor } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';

const root = join(import.meta.dirname, '../..');
const coreosGroup = 'etcd.database.coreos.com';
const slide = (file: string): string => readFileSync(join(root, 'examples/improbable', file), 'utf8');

story.inFull('the commands and manifests of the talk work as on its slides', async (context) => {
  const { kubectl, step, namespace } = context;
  const db = declaredIn(improbable)(kubectl, 'my-etcd');
  const hostOf = (pod: string) => `${pod}.my-etcd.${namespace}.svc`;
  const kinds = ['etcdclusters', 'etcdbackups', 'etcdrestores'];
  await kubectl(`delete crd ${kinds.map((kind) => `${kind}.${coreosGroup}`).join(' ')} --ignore-not-found`);
  try {
    await step('the API server serves the improbable kinds only', async () => {
      await until('the API server lists the kinds', async () => {
        const resources = await kubectl('api-resources');
        expect(resources).toMatch(/etcdclusters +ietcd +etcd.improbable.io\/v1alpha1 +true +EtcdCluster/);
        expect(resources).toMatch(/etcdpeers +ipeer +etcd.improbable.io\/v1alpha1 +true +EtcdPeer/);
        return !resources.includes(coreosGroup) || undefined;
      });
      await installFor(improbable, context);
    });
    await step('a spec with replicas: 3 is enough', async () => {
      expect(await kubectl('apply -f -', { input: slide('my-etcd.yaml') })).toBe(
        'etcdcluster.etcd.improbable.io/my-etcd created\n',
      );
      await db.settled(3);
      expect(await db.podNames()).toEqual(['my-etcd-0', 'my-etcd-1', 'my-etcd-2']);
    });
    await step('the EtcdPeers equal the slide', async () => {
      const { spec } = await kubectl.json<{ spec: { clusterName: string; bootstrap: object } }>(
        'get etcdpeer my-etcd-0',
      );
      expect(spec.clusterName).toBe('my-etcd');
      const initialCluster = ['my-etcd-0', 'my-etcd-1', 'my-etcd-2'].map((name) => ({ name, host: hostOf(name) }));
      expect(spec.bootstrap).toEqual({ initialClusterState: 'New', static: { initialCluster } });
    });
    await step('clients find the members with SRV records', async () => {
      const domain = `my-etcd.${namespace}.svc.cluster.local`;
      const etcdctl = (args: string): Promise<string> =>
        kubectl(`exec my-etcd-1 -- etcdctl --discovery-srv ${domain} ${args}`);
      await until('a key is put', async () => (await etcdctl('put foo bar')).includes('OK') || undefined);
      expect(await etcdctl('get foo')).toBe('foo\nbar\n');
      const list = await etcdctl('member list');
      for (const pod of await db.podNames()) expect(list).toContain(`http://${hostOf(pod)}:2380`);
    });
    await step('kubectl scale etcdcluster my-etcd --replicas 5', async () => {
      expect(await kubectl('scale etcdcluster my-etcd --replicas 5')).toBe(
        'etcdcluster.etcd.improbable.io/my-etcd scaled\n',
      );
      await db.settled(5);
      const { spec } = await kubectl.json<{ spec: { bootstrap: object } }>('get etcdpeer my-etcd-3');
      expect(spec.bootstrap).toMatchObject({ initialClusterState: 'Existing' });
      expect(JSON.stringify(spec.bootstrap)).toContain(`"host":"${hostOf('my-etcd-3')}"`);
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
    await step('invalid specs are refused, and defaults are set', async () => {
      const dryRun = (spec: object): { args: string; input: string } => ({
        args: 'create --dry-run=server -o json -f -',
        input: JSON.stringify({
          ...{ apiVersion: improbable.apiVersion, kind: 'EtcdCluster', metadata: { name: 'another' } },
          spec: { replicas: 3, ...spec },
        }),
      });
      const good = dryRun({});
      expect(JSON.parse(await kubectl(good.args, { input: good.input }))).toMatchObject({
        spec: { storage: { volumeClaimTemplate: { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem' } } },
      });
      const bad = dryRun({ version: '2.3.8' });
      expect(await kubectl.refused(bad.args, { input: bad.input })).toContain('only Etcd version 3 is supported');
    });
  } finally {
    for (const program of ['operator', 'backup-operator', 'restore-operator'])
      await kubectl(`apply --server-side -f ${join(root, `examples/coreos/etcd-${program}-crd.yaml`)}`);
    // `kubectl api-resources` refreshes the discovery cache of kubectl.
    await until('the coreos kinds are served again', async () => {
      const resources = await kubectl(`api-resources --api-group=${coreosGroup} -o name`);
      return kinds.every((kind) => resources.includes(kind)) || undefined;
    });
  }
});
