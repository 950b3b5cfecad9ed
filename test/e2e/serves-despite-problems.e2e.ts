import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import { inBothApis } from '../support/both-apis.ts';
import { type DeclaredCluster, declared, declaredIn } from '../support/cluster.ts';
import { conditionOf, degradedWith } from '../support/conditions.ts';
import { eventsContain } from '../support/events.ts';
import type { Kubectl } from '../support/kubectl.ts';
import type { ClientAccess } from '../support/member-endpoints.ts';
import { installFor, installOperator, scaleOperator } from '../support/operator.ts';
import { podUidsAndRestarts } from '../support/served-certificates.ts';
import { story } from '../support/story.ts';
import { certificatesFor, tlsOf } from '../support/tls-cluster.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { condition, inSeconds, waitFor } from '../support/waits.ts';

const version = '3.6.16';

const isAvailable = async (db: DeclaredCluster): Promise<void> =>
  expect(await conditionOf(db, 'Available')).toMatchObject({ status: 'True' });

/** Writes until etcd refuses a write; returns the error message. */
const fillUp = (db: DeclaredCluster): Promise<string> =>
  db.withMembers(async ([member]) => {
    for (let i = 0; i < 100; i++) {
      const refusal = await member?.put(`filler/${i}`, 'x'.repeat(100_000)).then(
        () => undefined,
        (error: Error) => error.message,
      );
      if (refusal !== undefined) return refusal;
    }
    throw new Error('etcd never reached its quota');
  });

const runsWith = (quota: number, { kubectl, db }: { kubectl: Kubectl; db: DeclaredCluster }): Promise<true> =>
  until(`all members have a quota of ${quota} bytes`, async () => {
    const path = '.spec.containers[0].env[?(@.name=="ETCD_QUOTA_BACKEND_BYTES")].value';
    const quotas = (await fieldOf(kubectl, `pods -l ${db.label}`, path)).split(' ');
    return (quotas.length === 3 && quotas.every((each) => Number(each) === quota)) || undefined;
  });

inBothApis(
  story.asOnTheLab,
  'a cluster over its storage quota keeps its members, and a larger quota is rolled out',
  async (api, context) => {
    const { kubectl, step } = context;
    const db = declaredIn(api)(kubectl);
    const [quota, larger] = [1024 ** 2, 64 * 1024 ** 2];
    const etcdctl = (pod: string, args: string): Promise<string> => kubectl(`exec ${pod} -c etcd -- etcdctl ${args}`);
    await installFor(api, context);
    await db.apply({ size: 3, version, extra: { quotaBackendBytes: quota } });
    await db.settled(3);
    await db.withMembers(async ([member]) => member?.put('before', 'all this'));
    await step('etcd refuses writes, and serves reads', async () => {
      expect(await fillUp(db)).toContain('space exceeded');
      const [pod = ''] = await db.podNames();
      expect(await etcdctl(pod, 'alarm list')).toContain('NOSPACE');
      await db.settled(3);
      await isAvailable(db);
      expect(await etcdctl(pod, 'get before --print-value-only')).toBe('all this\n');
    });
    await step('the alarm is in the status of cluster and member, and in a Warning', async () => {
      expect(await degradedWith(db, 'NOSPACE')).toMatchObject({ reason: 'AlarmRaised' });
      expect(JSON.stringify(await db.status())).toContain('"alarms":["NOSPACE"]');
      await eventsContain(kubectl, { reason: 'AlarmRaised', type: 'Warning' }, ['NOSPACE']);
    });
    await step('a larger quota is rolled out to all members', async () => {
      await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"quotaBackendBytes":${larger}}}'`);
      await runsWith(larger, { kubectl, db });
      await db.settled(3);
    });
    await step('after compaction, defragmentation and disarm, etcd accepts writes', async () => {
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
    `an unresolvable cluster domain is refused before any member ${durable ? 'with' : 'without'} a PVC uses it`,
    async (context) => {
      const { kubectl, step } = context;
      const db = declared(kubectl);
      await installOperator(context);
      await db.apply({ size: 3, version, durable });
      await db.settled(3);
      const [members, podState] = [await db.ids(), await podUidsAndRestarts(kubectl)];
      await underTraffic(db, async () => {
        await step('a domain with a typo is reported, and members are unchanged', async () => {
          await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"pod":{"ClusterDomain":".cluster.locl"}}}'`);
          expect((await degradedWith(db, '.svc.cluster.locl', 60)).message).toContain(
            'correct the cluster domain in the spec',
          );
          await isAvailable(db);
          expect([await db.ids(), await podUidsAndRestarts(kubectl)]).toEqual([members, podState]);
        });
        await step('after the correction, peer URLs have the domain', async () => {
          await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"pod":{"ClusterDomain":".cluster.local"}}}'`);
          await until(
            'all peer URLs have the domain',
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
  const commands = await fieldOf(kubectl, `pods -l ${label}`, '.spec.containers[0].command');
  const isSetOnAll = (flag: string): boolean => commands.split(`${flag}"`).length - 1 === 3;
  const listenFlags = ['--listen-peer-urls=https://0.0.0.0:2380', '--listen-client-urls=https://0.0.0.0:2379'];
  return listenFlags.every(isSetOnAll) || undefined;
}

for (const durable of [true, false])
  story.asOnTheLab(
    `a cluster ${durable ? 'with' : 'without'} PVCs keeps serving without TLS if the TLS Secrets are missing`,
    async (context) => {
      const { kubectl, step, namespace } = context;
      const certificates = await certificatesFor(kubectl, { name: 'db', namespace });
      let access: ClientAccess = {};
      const db = declared(kubectl, 'db', async () => access);
      await installOperator(context);
      await db.apply({ size: 3, version, durable });
      await db.settled(3);
      await step('the missing Secret is named in the Degraded condition', async () => {
        const TLS = tlsOf('db', ['peer', 'client']);
        await kubectl(`patch etcdcluster db --type=merge -p '${JSON.stringify({ spec: { TLS } })}'`);
        expect(await degradedWith(db, 'Secret db-peer does not exist')).toMatchObject({ reason: 'InvalidSecret' });
        await isAvailable(db);
      });
      await step('a deleted pod is replaced meanwhile', async () => {
        const [victim = ''] = await db.podNames();
        await underTraffic(db, async () => {
          await kubectl(`delete pod ${victim}`);
          await until('three pods', async () => (await db.podNames()).length === 3 || undefined);
          await waitFor(kubectl, `pods -l ${db.label}`, condition('Ready'));
          await db.voters(3);
        });
        await degradedWith(db, 'Secret db-peer does not exist');
        await isAvailable(db);
      });
      if (durable)
        await step('once the Secrets exist, peer and client traffic is encrypted', async () => {
          await certificates.write();
          access = { tls: await certificates.client() };
          await until('all members listen with https only', () => areEncrypted(db, kubectl));
        });
      else
        await step('TLS is removed from the spec', () =>
          kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"TLS":null}}'`),
        );
      await waitFor(kubectl, 'etcdcluster/db', condition('Degraded', 'False'));
      await db.settled(3);
    },
  );

story.asOnTheLab(
  'foreign objects with names of a cluster are reported, and its members are still replaced',
  async (context) => {
    const { kubectl, step } = context;
    const db = declared(kubectl);
    const labels = { app: 'etcd', etcd_cluster: 'db' };
    const foreignObjects = [
      {
        ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'db-client', labels } },
        spec: { ports: [{ port: 80 }], selector: { app: 'another-app' } },
      },
      {
        ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'db', labels } },
        spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'another-app' } } },
      },
    ];
    await installOperator(context);
    await db.apply({ size: 3, version });
    await db.settled(3);
    await step('foreign objects take the names while the operator is down', async () => {
      await scaleOperator(context, 0);
      await kubectl('delete service/db-client poddisruptionbudget/db');
      for (const object of foreignObjects) await kubectl('create -f -', { input: JSON.stringify(object) });
      await scaleOperator(context, 1);
    });
    await step('the foreign Service is reported, and a deleted pod is replaced', async () => {
      await degradedWith(db, 'Service db-client exists and does not belong to this cluster');
      const [victim = ''] = await db.podNames();
      await underTraffic(db, async () => {
        await kubectl(`delete pod ${victim}`);
        await db.healed(victim, 3);
      });
      await isAvailable(db);
    });
    await step('once the foreign objects are deleted, the operator creates its own', async () => {
      await kubectl('delete service db-client');
      await degradedWith(db, 'PodDisruptionBudget db exists and does not belong to this cluster');
      await kubectl('delete poddisruptionbudget db');
      await waitFor(kubectl, 'etcdcluster/db', condition('Degraded', 'False'));
      for (const each of ['service/db-client', 'poddisruptionbudget/db'])
        expect(await fieldOf(kubectl, each, '.metadata.ownerReferences[0].name')).toBe('db');
    });
  },
);
