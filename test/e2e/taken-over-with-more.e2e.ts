import { expect } from 'vitest';
import { parse, stringify } from 'yaml';
import { shown } from '../support/api.ts';
import { improbable } from '../support/apis.ts';
import { toldOf } from '../support/conditions.ts';
import { eventsSay } from '../support/events.ts';
import { example, installFor } from '../support/operator.ts';
import { originalOfCoreos } from '../support/original-coreos.ts';
import { originalOfImprobable } from '../support/original-improbable.ts';
import { bringUp } from '../support/originals.ts';
import { story } from '../support/story.ts';
import { isTakenOver } from '../support/taken-over.ts';
import { certificatesFor } from '../support/tls-cluster.ts';
import { expectServed, served, underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { condition, created, field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const users = '{.items[*].spec.securityContext.runAsUser}';

story.asOnTheLab(
  'a cluster of the CoreOS operator with certificates and disks is taken over while it serves',
  async (told) => {
    const { kubectl, step, namespace } = told;
    const certificates = await certificatesFor(kubectl, { name: 'db', namespace });
    await certificates.write();
    const original = {
      name: 'db',
      size: 3,
      version: '3.4.31',
      durable: true,
      entry: { tls: await certificates.client() },
    };
    const names = originalOfCoreos.memberNames(original);
    const db = await step('three members serve without an operator', () => bringUp(originalOfCoreos, original, told));
    const before = await db.ids();
    const experience = await underTraffic(db, async () => {
      await step('ours takes it over, and nobody is stopped', () =>
        isTakenOver(db, kubectl, () => installFor(originalOfCoreos.api, told)),
      );
      await step('a deleted pod comes back to its disk, as the user whose files are there', async () => {
        const [victim = ''] = names;
        await kubectl(`delete pod ${victim}`);
        await waitFor(kubectl, `pod/${victim}`, created);
        await waitFor(kubectl, `pod/${victim}`, inSeconds(120, condition('Ready')));
        await db.settled(3);
        expect(await db.ids()).toEqual(before);
        expect(await kubectl(`get pods -l etcd_node=${victim} -o jsonpath=${users}`)).toBe('0');
      });
      await step('another version reaches all, and they are the same members', async () => {
        await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"version":"3.5.35"}}'`);
        await waitFor(kubectl, db.resource, inSeconds(180, field('.status.currentVersion', '3.5.35')));
        await db.settled(3);
        expect(await db.ids()).toEqual(before);
      });
      await step('it grows, by one that is like any other', async () => {
        await kubectl(`scale ${db.resource} --replicas=4`);
        await db.settled(4);
        const newcomer = (await db.podNames()).find((name) => !names.includes(name));
        expect(await kubectl(`get pods -l etcd_node=${newcomer} -o jsonpath=${users}`)).toBe('65532');
        const urls = (await db.members()).flatMap(({ peerURLs, clientURLs }) => [...peerURLs, ...clientURLs]);
        expect(urls.filter((url) => !url.startsWith('https:'))).toEqual([]);
      });
    });
    await step(`nothing was lost: ${served(experience)}`, async () => {
      expectServed(experience);
    });
  },
);

story.asOnTheLab(
  'a cluster whose ReplicaSets may not be seen is left alone and says so, until they may be',
  async (told) => {
    const { kubectl, step, namespace } = told;
    const db = await bringUp(originalOfImprobable, { name: 'db', size: 3, version: '3.5.35' }, told);
    const shipped = example('etcd-operator-role.yaml', namespace, improbable.name);
    const sets = 'get replicasets -l app.kubernetes.io/name=etcd -o name';
    await underTraffic(db, async () => {
      await step('what it may not see is told on the cluster, and nothing is made for it', async () => {
        const role = parse(shipped) as { rules: readonly { resources: readonly string[] }[] };
        const rules = role.rules.filter(({ resources }) => !resources.includes('replicasets'));
        await installFor(improbable, told, { role: stringify({ ...role, rules }) });
        expect(await toldOf(db, 'get and delete replicasets', 60)).toMatchObject({ reason: 'MissingRights' });
        expect(await kubectl(`get poddisruptionbudgets -l ${db.label} -o name`)).toBe('');
        expect((await kubectl(sets)).split('\n').filter(Boolean)).toHaveLength(3);
      });
      await step('when it may, ours takes it over, and nobody is stopped', () =>
        isTakenOver(db, kubectl, async () => void (await kubectl('apply -f -', { input: shipped }))),
      );
      await until('no ReplicaSet is left', async () => (await kubectl(sets)) === '' || undefined);
    });
  },
);

story.asOnTheLab(
  'a cluster that the operator of the talk has made, and of which nobody answers, is told and not touched',
  async (told) => {
    const { kubectl, step } = told;
    const silent = { name: 'db', size: 3, version: '3.5.35', silent: true };
    const db = await bringUp(originalOfImprobable, silent, told);
    const of = (kinds: string, path: string): Promise<string> =>
      kubectl(`get ${kinds} -l ${db.label} -o jsonpath={.items[*].${path}}`);
    await waitFor(kubectl, `pods -l ${db.label}`, condition('Ready'));
    const [pods, sets] = [await of('pods', 'metadata.uid'), await of('replicasets', 'metadata.uid')];
    await installFor(improbable, told);
    await step('while its pods run, they are waited for', async () => {
      expect(await toldOf(db, 'the operator cannot reach etcd', 60)).toMatchObject({ reason: 'NoContact' });
      expect(await db.status()).toMatchObject({ replicas: 3, members: [{}, {}, {}] });
      expect(await of('poddisruptionbudgets', 'metadata.name')).toBe('');
      expect([await of('pods', 'metadata.uid'), await of('replicasets', 'metadata.uid')]).toEqual([pods, sets]);
      expect(await of('pods', 'metadata.ownerReferences[*].kind')).toBe('ReplicaSet ReplicaSet ReplicaSet');
    });
    await step('when all is gone, with the data, no empty cluster takes its place', async () => {
      await kubectl(`delete replicasets -l ${db.label} --cascade=orphan`);
      await kubectl(`delete persistentvolumeclaims -l ${db.label} --wait=false`);
      await kubectl(`delete pods -l ${db.label} --grace-period=1`);
      expect(await toldOf(db, '3 of 3 members have lost their data')).toMatchObject({ reason: 'QuorumLost' });
      const { members } = (await db.status()) as { readonly members: readonly { readonly name: string }[] };
      expect(members.map(({ name }) => name)).toEqual(originalOfImprobable.memberNames(silent));
      await waitForDeletion(kubectl, `persistentvolumeclaims -l ${db.label}`);
      for (const kind of ['pods', 'persistentvolumeclaims']) expect(await of(kind, 'metadata.name')).toBe('');
    });
  },
);

story.asOnTheLab(
  'what the original was about to delete goes, and what nobody stands for is left and told of',
  async (told) => {
    const { kubectl, step } = told;
    const group = 'etcd.improbable.io';
    const db = await bringUp(originalOfImprobable, { name: 'db', size: 1, version: '3.5.35' }, told);
    const create = (object: object): Promise<unknown> => kubectl('create -f -', { input: JSON.stringify(object) });
    const labels = { 'app.kubernetes.io/name': 'etcd', [`${group}/cluster-name`]: 'db' };
    const uid = await shown(kubectl, db.resource, '.metadata.uid');
    const owner = { apiVersion: improbable.apiVersion, kind: 'EtcdCluster', name: 'db', uid, controller: true };
    const resources = { requests: { storage: '256Mi' } };
    for (const name of ['db-1', 'db-2'])
      await create({
        ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
        metadata: { name, labels: { ...labels, [`${group}/peer-name`]: name } },
        spec: { accessModes: ['ReadWriteOnce'], resources },
      });
    const finalizers = [`etcdpeer.${group}/pvc-cleanup`];
    await create({
      ...{ apiVersion: improbable.apiVersion, kind: 'EtcdPeer' },
      metadata: { name: 'db-1', labels, finalizers, ownerReferences: [owner] },
      spec: { clusterName: 'db', bootstrap: { initialClusterState: 'Existing' } },
    });
    await kubectl(`delete etcdpeers.${group} db-1 --wait=false`);
    const pods = await db.podNames();
    await step('ours takes the cluster over', async () => {
      await installFor(improbable, told);
      await waitFor(kubectl, db.resource, field('.status.clusterId'));
      await db.settled(1);
      expect(await db.podNames()).toEqual(pods);
    });
    await step('the peer that was scaled away goes, and its volume after the grace time', async () => {
      await waitForDeletion(kubectl, `etcdpeers.${group}/db-1`);
      await waitFor(kubectl, db.resource, field('.status.keptVolumes[0].name', 'db-1'));
      await kubectl('delete persistentvolumeclaim db-1');
    });
    await step('the volume that nobody stands for is still there', async () => {
      await eventsSay(kubectl, { reason: 'NameTaken' }, ['PersistentVolumeClaim db-2 has a name']);
      expect(await shown(kubectl, 'persistentvolumeclaim/db-2', '.metadata.deletionTimestamp')).toBe('');
    });
  },
);
