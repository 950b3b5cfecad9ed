import { expect } from 'vitest';
import { shown } from '../support/api.ts';
import { inBothApis } from '../support/both-apis.ts';
import { type DeclaredCluster, declared, declaredIn } from '../support/cluster.ts';
import { conditionOf, toldOf } from '../support/conditions.ts';
import { eventsSay } from '../support/events.ts';
import type { Kubectl } from '../support/kubectl.ts';
import type { Entry } from '../support/member-endpoints.ts';
import { installFor, installOperator, scaleOperator } from '../support/operator.ts';
import { bodiesOf } from '../support/shown.ts';
import { story } from '../support/story.ts';
import { certificatesFor, tlsOf } from '../support/tls-cluster.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { condition, inSeconds, waitFor } from '../support/waits.ts';

const version = '3.6.16';

const isAvailable = async (db: DeclaredCluster): Promise<void> =>
  expect(await conditionOf(db, 'Available')).toMatchObject({ status: 'True' });

/** Writes until etcd takes no more, and gives back what it says. */
const fillUp = (db: DeclaredCluster): Promise<string> =>
  db.withMembers(async ([member]) => {
    for (let i = 0; i < 100; i++) {
      const refusal = await member?.put(`filler/${i}`, 'x'.repeat(100_000)).then(
        () => undefined,
        (error: Error) => error.message,
      );
      if (refusal !== undefined) return refusal;
    }
    throw new Error('there is always room');
  });

const runsWith = (quota: number, { kubectl, db }: { kubectl: Kubectl; db: DeclaredCluster }): Promise<true> =>
  until(`all members have room for ${quota} bytes`, async () => {
    const path = '.spec.containers[0].env[?(@.name=="ETCD_QUOTA_BACKEND_BYTES")].value';
    const quotas = (await shown(kubectl, `pods -l ${db.label}`, path)).split(' ');
    return (quotas.length === 3 && quotas.every((each) => Number(each) === quota)) || undefined;
  });

inBothApis(
  story.asOnTheLab,
  'a quota that is used up costs nobody their place, and a larger one reaches members',
  async (api, told) => {
    const { kubectl, step } = told;
    const db = declaredIn(api)(kubectl);
    const [quota, larger] = [1024 ** 2, 64 * 1024 ** 2];
    const etcdctl = (pod: string, words: string): Promise<string> => kubectl(`exec ${pod} -c etcd -- etcdctl ${words}`);
    await installFor(api, told);
    await db.apply({ size: 3, version, extra: { quotaBackendBytes: quota } });
    await db.settled(3);
    await db.withMembers(async ([member]) => member?.put('before', 'all this'));
    await step('etcd takes no more, and reads on', async () => {
      expect(await fillUp(db)).toContain('space exceeded');
      const [pod = ''] = await db.podNames();
      expect(await etcdctl(pod, 'alarm list')).toContain('NOSPACE');
      await db.settled(3);
      await isAvailable(db);
      expect(await etcdctl(pod, 'get before --print-value-only')).toBe('all this\n');
    });
    await step('it is told in the status, of the member too, and in a Warning', async () => {
      expect(await toldOf(db, 'NOSPACE')).toMatchObject({ reason: 'AlarmRaised' });
      expect(JSON.stringify(await db.status())).toContain('"alarms":["NOSPACE"]');
      await eventsSay(kubectl, { reason: 'AlarmRaised', type: 'Warning' }, ['NOSPACE']);
    });
    await step('a larger quota is carried to all', async () => {
      await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"quotaBackendBytes":${larger}}}'`);
      await runsWith(larger, { kubectl, db });
      await db.settled(3);
    });
    await step('compacted, defragmented and disarmed, it is written to again', async () => {
      const pods = await db.podNames();
      const [pod = ''] = pods;
      const [{ Status: status }] = JSON.parse(await etcdctl(pod, 'endpoint status -w json')) as [
        { Status: { header: { revision: number } } },
      ];
      await etcdctl(pod, `compact ${status.header.revision}`);
      for (const each of pods) await etcdctl(each, 'defrag');
      expect(await etcdctl(pod, 'alarm disarm')).toContain('NOSPACE');
      expect(await etcdctl(pod, 'put after all-this')).toBe('OK\n');
      await waitFor(kubectl, db.resource, inSeconds(30, condition('Degraded', 'False')));
      expect(JSON.stringify(await db.status())).not.toContain('alarms');
      await isAvailable(db);
    });
  },
);

for (const durable of [true, false])
  story.asOnTheLab(
    `a domain that nobody knows is refused before a member ${durable ? 'with' : 'without'} a disk goes by it`,
    async (told) => {
      const { kubectl, step } = told;
      const db = declared(kubectl);
      await installOperator(told);
      await db.apply({ size: 3, version, durable });
      await db.settled(3);
      const [members, bodies] = [await db.ids(), await bodiesOf(kubectl)];
      await underTraffic(db, async () => {
        await step('a typo', async () => {
          await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"pod":{"ClusterDomain":".cluster.locl"}}}'`);
          expect((await toldOf(db, '.svc.cluster.locl', 60)).message).toContain('correct the domain of the cluster');
          await isAvailable(db);
          expect([await db.ids(), await bodiesOf(kubectl)]).toEqual([members, bodies]);
        });
        await step('corrected, members go by it', async () => {
          await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"pod":{"ClusterDomain":".cluster.local"}}}'`);
          await until(
            'all have the name',
            async () =>
              (await db.members()).every(({ peerURLs }) =>
                peerURLs.every((url) => url.includes('.svc.cluster.local:')),
              ) || undefined,
          );
          await waitFor(kubectl, 'etcdcluster/db', condition('Degraded', 'False'));
          await db.settled(3);
          if (durable) expect(await db.ids()).toEqual(members);
        });
      });
    },
  );

async function areEncrypted({ label }: DeclaredCluster, kubectl: Kubectl): Promise<true | undefined> {
  const commands = await shown(kubectl, `pods -l ${label}`, '.spec.containers[0].command');
  const isSaidByAll = (flag: string): boolean => commands.split(`${flag}"`).length - 1 === 3;
  const listens = ['--listen-peer-urls=https://0.0.0.0:2380', '--listen-client-urls=https://0.0.0.0:2379'];
  return listens.every(isSaidByAll) || undefined;
}

for (const durable of [true, false])
  story.asOnTheLab(
    `without the Secrets for encryption a cluster ${durable ? 'with' : 'without'} disks goes on as it was`,
    async (told) => {
      const { kubectl, step, namespace } = told;
      const certificates = await certificatesFor(kubectl, { name: 'db', namespace });
      let entry: Entry = {};
      const db = declared(kubectl, 'db', async () => entry);
      await installOperator(told);
      await db.apply({ size: 3, version, durable });
      await db.settled(3);
      await step('they are asked for by name', async () => {
        const TLS = tlsOf('db', ['peer', 'client']);
        await kubectl(`patch etcdcluster db --type=merge -p '${JSON.stringify({ spec: { TLS } })}'`);
        expect(await toldOf(db, 'Secret db-peer does not exist')).toMatchObject({ reason: 'SecretUnfit' });
        await isAvailable(db);
      });
      await step('a deleted pod is healed', async () => {
        const [victim = ''] = await db.podNames();
        await underTraffic(db, async () => {
          await kubectl(`delete pod ${victim}`);
          await until('three pods', async () => (await db.podNames()).length === 3 || undefined);
          await waitFor(kubectl, `pods -l ${db.label}`, condition('Ready'));
          await db.voters(3);
        });
        await toldOf(db, 'Secret db-peer does not exist');
        await isAvailable(db);
      });
      if (durable)
        await step('when they are there, all is encrypted', async () => {
          await certificates.write();
          entry = { tls: await certificates.client() };
          await until('nobody speaks without', () => areEncrypted(db, kubectl));
        });
      else
        await step('encryption is no longer asked for', () =>
          kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"TLS":null}}'`),
        );
      await waitFor(kubectl, 'etcdcluster/db', condition('Degraded', 'False'));
      await db.settled(3);
    },
  );

story.asOnTheLab(
  'what strangers have under names of a cluster is told, and it is healed all the same',
  async (told) => {
    const { kubectl, step } = told;
    const db = declared(kubectl);
    const labels = { app: 'etcd', etcd_cluster: 'db' };
    const strangers = [
      {
        ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'db-client', labels } },
        spec: { ports: [{ port: 80 }], selector: { app: 'somebody-else' } },
      },
      {
        ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'db', labels } },
        spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'somebody-else' } } },
      },
    ];
    await installOperator(told);
    await db.apply({ size: 3, version });
    await db.settled(3);
    await step('they take the names while nobody looks', async () => {
      await scaleOperator(told, 0);
      await kubectl('delete service/db-client poddisruptionbudget/db');
      for (const stranger of strangers) await kubectl('create -f -', { input: JSON.stringify(stranger) });
      await scaleOperator(told, 1);
    });
    await step('told, and a deleted pod is replaced', async () => {
      await toldOf(db, 'Service db-client exists and does not belong to this cluster');
      const [victim = ''] = await db.podNames();
      await underTraffic(db, async () => {
        await kubectl(`delete pod ${victim}`);
        await db.healed(victim, 3);
      });
      await isAvailable(db);
    });
    await step('when the one is gone the other is told, and when both are, all is as it was', async () => {
      await kubectl('delete service db-client');
      await toldOf(db, 'PodDisruptionBudget db exists and does not belong to this cluster');
      await kubectl('delete poddisruptionbudget db');
      await waitFor(kubectl, 'etcdcluster/db', condition('Degraded', 'False'));
      for (const each of ['service/db-client', 'poddisruptionbudget/db'])
        expect(await shown(kubectl, each, '.metadata.ownerReferences[0].name')).toBe('db');
    });
  },
);
