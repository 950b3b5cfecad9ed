import { expect } from 'vitest';
import { parse, stringify } from 'yaml';
import { expectAdopted } from '../support/adoption.ts';
import { fieldOf } from '../support/api.ts';
import { improbable } from '../support/apis.ts';
import { degradedWith } from '../support/conditions.ts';
import { eventsContain } from '../support/events.ts';
import { example, installFor } from '../support/operator.ts';
import { originalOfCoreos } from '../support/original-coreos.ts';
import { originalOfImprobable } from '../support/original-improbable.ts';
import { createOriginal } from '../support/originals.ts';
import { story } from '../support/story.ts';
import { certificatesFor } from '../support/tls-cluster.ts';
import { expectServed, served, underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { condition, created, field, inSeconds, waitFor, waitForDeletion } from '../support/waits.ts';

const users = '{.items[*].spec.securityContext.runAsUser}';

story.asOnTheLab('a cluster of the CoreOS operator with TLS and PVCs is adopted while it serves', async (context) => {
  const { kubectl, step, namespace } = context;
  const certificates = await certificatesFor(kubectl, { name: 'db', namespace });
  await certificates.write();
  const original = {
    name: 'db',
    size: 3,
    version: '3.4.31',
    durable: true,
    access: { tls: await certificates.client() },
  };
  const names = originalOfCoreos.memberNames(original);
  const db = await step('three members serve without an operator', () =>
    createOriginal(originalOfCoreos, original, context),
  );
  const before = await db.ids();
  const stats = await underTraffic(db, async () => {
    await step('our operator adopts the cluster, and no pod restarts', () =>
      expectAdopted(db, kubectl, () => installFor(originalOfCoreos.api, context)),
    );
    await step('a deleted pod returns to its PVC with the UID that owns its files', async () => {
      const [victim = ''] = names;
      await kubectl(`delete pod ${victim}`);
      await waitFor(kubectl, `pod/${victim}`, created);
      await waitFor(kubectl, `pod/${victim}`, inSeconds(120, condition('Ready')));
      await db.settled(3);
      expect(await db.ids()).toEqual(before);
      expect(await kubectl(`get pods -l etcd_node=${victim} -o jsonpath=${users}`)).toBe('0');
    });
    await step('an upgrade keeps the members', async () => {
      await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"version":"3.5.35"}}'`);
      await waitFor(kubectl, db.resource, inSeconds(180, field('.status.currentVersion', '3.5.35')));
      await db.settled(3);
      expect(await db.ids()).toEqual(before);
    });
    await step('a member added by a scale-up runs with our default UID', async () => {
      await kubectl(`scale ${db.resource} --replicas=4`);
      await db.settled(4);
      const joiningMember = (await db.podNames()).find((name) => !names.includes(name));
      expect(await kubectl(`get pods -l etcd_node=${joiningMember} -o jsonpath=${users}`)).toBe('65532');
      const urls = (await db.members()).flatMap(({ peerURLs, clientURLs }) => [...peerURLs, ...clientURLs]);
      expect(urls.filter((url) => !url.startsWith('https:'))).toEqual([]);
    });
  });
  await step(`no write was lost: ${served(stats)}`, async () => {
    expectServed(stats);
  });
});

story.asOnTheLab('a cluster is adopted only once the operator has permissions on ReplicaSets', async (context) => {
  const { kubectl, step, namespace } = context;
  const db = await createOriginal(originalOfImprobable, { name: 'db', size: 3, version: '3.5.35' }, context);
  const shipped = example('etcd-operator-role.yaml', namespace, improbable.name);
  const sets = 'get replicasets -l app.kubernetes.io/name=etcd -o name';
  await underTraffic(db, async () => {
    await step('missing permissions are reported on the cluster, and no object is created', async () => {
      const role = parse(shipped) as { rules: readonly { resources: readonly string[] }[] };
      const rules = role.rules.filter(({ resources }) => !resources.includes('replicasets'));
      await installFor(improbable, context, { role: stringify({ ...role, rules }) });
      expect(await degradedWith(db, 'get and delete replicasets', 60)).toMatchObject({ reason: 'MissingRights' });
      expect(await kubectl(`get poddisruptionbudgets -l ${db.label} -o name`)).toBe('');
      expect((await kubectl(sets)).split('\n').filter(Boolean)).toHaveLength(3);
    });
    await step('with the permissions the cluster is adopted, and no pod restarts', () =>
      expectAdopted(db, kubectl, async () => void (await kubectl('apply -f -', { input: shipped }))),
    );
    await until('no ReplicaSet is left', async () => (await kubectl(sets)) === '' || undefined);
  });
});

story.asOnTheLab('an unreachable cluster of the improbable operator is reported and not changed', async (context) => {
  const { kubectl, step } = context;
  const silent = { name: 'db', size: 3, version: '3.5.35', silent: true };
  const db = await createOriginal(originalOfImprobable, silent, context);
  const of = (kinds: string, path: string): Promise<string> =>
    kubectl(`get ${kinds} -l ${db.label} -o jsonpath={.items[*].${path}}`);
  await waitFor(kubectl, `pods -l ${db.label}`, condition('Ready'));
  const [pods, sets] = [await of('pods', 'metadata.uid'), await of('replicasets', 'metadata.uid')];
  await installFor(improbable, context);
  await step('the operator waits while the pods run', async () => {
    expect(await degradedWith(db, 'the operator cannot reach etcd', 60)).toMatchObject({ reason: 'NoContact' });
    expect(await db.status()).toMatchObject({ replicas: 3, members: [{}, {}, {}] });
    expect(await of('poddisruptionbudgets', 'metadata.name')).toBe('');
    expect([await of('pods', 'metadata.uid'), await of('replicasets', 'metadata.uid')]).toEqual([pods, sets]);
    expect(await of('pods', 'metadata.ownerReferences[*].kind')).toBe('ReplicaSet ReplicaSet ReplicaSet');
  });
  await step('after pods and PVCs are deleted, no empty cluster is created', async () => {
    await kubectl(`delete replicasets -l ${db.label} --cascade=orphan`);
    await kubectl(`delete persistentvolumeclaims -l ${db.label} --wait=false`);
    await kubectl(`delete pods -l ${db.label} --grace-period=1`);
    expect(await degradedWith(db, '3 of 3 members have lost their data')).toMatchObject({ reason: 'QuorumLost' });
    const { members } = (await db.status()) as { readonly members: readonly { readonly name: string }[] };
    expect(members.map(({ name }) => name)).toEqual(originalOfImprobable.memberNames(silent));
    await waitForDeletion(kubectl, `persistentvolumeclaims -l ${db.label}`);
    for (const kind of ['pods', 'persistentvolumeclaims']) expect(await of(kind, 'metadata.name')).toBe('');
  });
});

story.asOnTheLab(
  'an EtcdPeer that the original was deleting is removed, and an orphaned PVC is kept and reported',
  async (context) => {
    const { kubectl, step } = context;
    const group = 'etcd.improbable.io';
    const db = await createOriginal(originalOfImprobable, { name: 'db', size: 1, version: '3.5.35' }, context);
    const create = (object: object): Promise<unknown> => kubectl('create -f -', { input: JSON.stringify(object) });
    const labels = { 'app.kubernetes.io/name': 'etcd', [`${group}/cluster-name`]: 'db' };
    const uid = await fieldOf(kubectl, db.resource, '.metadata.uid');
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
    await step('our operator adopts the cluster', async () => {
      await installFor(improbable, context);
      await waitFor(kubectl, db.resource, field('.status.clusterId'));
      await db.settled(1);
      expect(await db.podNames()).toEqual(pods);
    });
    await step('the EtcdPeer of the removed member is deleted, and its PVC is kept', async () => {
      await waitForDeletion(kubectl, `etcdpeers.${group}/db-1`);
      await waitFor(kubectl, db.resource, field('.status.keptVolumes[0].name', 'db-1'));
      await kubectl('delete persistentvolumeclaim db-1');
    });
    await step('the orphaned PVC is reported and kept', async () => {
      await eventsContain(kubectl, { reason: 'NameTaken' }, [
        'PersistentVolumeClaim db-2 does not belong to this cluster',
      ]);
      expect(await fieldOf(kubectl, 'persistentvolumeclaim/db-2', '.metadata.deletionTimestamp')).toBe('');
    });
  },
);
