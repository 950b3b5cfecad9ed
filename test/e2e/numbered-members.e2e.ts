import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import { improbable } from '../support/apis.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import { eventsContain } from '../support/events.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installFor } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { clientAccessIn } from '../support/tls-cluster.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { field, inSeconds, waitFor } from '../support/waits.ts';

const version = '3.6.16';
const peers = 'etcdpeers.etcd.improbable.io';

const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `db-${i}`);

/** Waits until exactly this many EtcdPeers, pods and PVCs exist, with the lowest numbers. */
async function hasOnly(count: number, db: DeclaredCluster, kubectl: Kubectl): Promise<void> {
  const member = '.metadata.labels.etcd\\.improbable\\.io/peer-name';
  for (const [kind, path] of [
    [peers, '.metadata.name'],
    ['pods', '.metadata.name'],
    ['persistentvolumeclaims', member],
  ] as const) {
    await until(`${count} ${kind}`, async () => {
      const names = (await fieldOf(kubectl, `${kind} -l ${db.label}`, path)).split(' ').filter(Boolean);
      return names.toSorted().join() === numbered(count).join() || undefined;
    });
  }
}

/** Waits until the status has the same members as etcd. */
async function statusHasMembers(db: DeclaredCluster): Promise<void> {
  const members = (await db.members()).map(({ id, name }) => ({ id: id.toString(16), name }));
  await until('the status names the members of etcd', async () => {
    const reported = (await db.status())['members'] as readonly { readonly id: string; readonly name: string }[];
    const names = reported.map(({ id, name }) => ({ id, name }));
    expect(names).toEqual(expect.arrayContaining(members));
    return names.length === members.length || undefined;
  });
}

const eventsOfFifthMember = [
  'Created a new EtcdPeer with name "db-4"',
  'Added a new member with name "db-4"',
  'Removed a member with name "db-4"',
  'Removed EtcdPeer with name "db-4"',
];

story.inFull(
  'numbered members are added and removed with EtcdPeer, pod and PVC, and no write is lost',
  async (context) => {
    const { kubectl, step } = context;
    const db = declaredIn(improbable)(kubectl);
    await installFor(improbable, context);
    await step('three members serve', async () => {
      await db.apply({ size: 3, version });
      await db.settled(3);
      await hasOnly(3, db, kubectl);
      await statusHasMembers(db);
      expect(await db.status()).toMatchObject({ replicas: 3, clusterVersion: '3.6.0', serverVersion: version });
      for (const name of numbered(3))
        await waitFor(kubectl, `${peers}/${name}`, inSeconds(30, field('.status.serverVersion', version)));
    });
    const { written, longestPause } = await underTraffic(db, async () => {
      for (const size of [5, 1, 3]) {
        await step(`scaled to ${size}`, async () => {
          await kubectl(`scale ${db.resource} --replicas=${size}`);
          await db.settled(size);
          await hasOnly(size, db, kubectl);
        });
      }
      await statusHasMembers(db);
    });
    await step(`no write was lost: ${written} written, longest pause ${longestPause.toFixed(0)} ms`, async () => {
      await eventsContain(kubectl, { name: 'db' }, eventsOfFifthMember);
    });
  },
);

story.asOnTheLab(
  'a numbered member keeps its name and data after its pod, EtcdPeer or Services are deleted',
  async (context) => {
    const { kubectl, step } = context;
    const db = declaredIn(improbable)(kubectl);
    await installFor(improbable, context);
    await db.apply({ size: 3, version });
    await db.settled(3);
    const before = await db.ids();
    const recreated = async (object: string, path = '.metadata.uid'): Promise<void> => {
      const old = await fieldOf(kubectl, object, path);
      await kubectl(`delete ${object}`);
      await until(`another ${object}`, async () => {
        const now = await fieldOf(kubectl, object, path);
        return (now !== '' && now !== old) || undefined;
      });
      await db.settled(3);
    };
    await underTraffic(db, async () => {
      await step('the pod is deleted', () => recreated('pod/db-1'));
      await step('the EtcdPeer is deleted', () => recreated(`${peers}/db-1`));
      await step('the Services are deleted', async () => {
        await recreated('service/db');
        await recreated('service/db-client');
      });
      await step('an edit of the EtcdPeer is reverted', async () => {
        await kubectl(`patch ${peers} db-2 --type=merge -p '{"spec":{"version":"3.4.31"}}'`);
        await waitFor(kubectl, `${peers}/db-2`, inSeconds(30, field('.spec.version', version)));
        const refused = await kubectl.refused(`patch ${peers} db-2 --type=merge -p '{"spec":{"clusterName":"other"}}'`);
        expect(refused).toContain('clusterName cannot be changed');
      });
      expect(await db.ids()).toEqual(before);
      await step('the PVC is deleted: a new member takes its place', async () => {
        await kubectl('delete persistentvolumeclaim db-1 --wait=false');
        await kubectl('delete pod db-1');
        await until('another member', async () => (await db.ids()).join() !== before.join() || undefined);
        await db.settled(3);
        expect((await db.ids()).filter((id) => before.includes(id))).toHaveLength(2);
      });
    });
  },
);

story.asOnTheLab(
  'a new version and a new pod template are rolled out to numbered members one by one',
  async (context) => {
    const { kubectl, step } = context;
    const db = declaredIn(improbable)(kubectl);
    await installFor(improbable, context);
    await db.apply({ size: 3, version: '3.5.21' });
    await db.settled(3);
    const before = await db.ids();
    await underTraffic(db, async () => {
      await step('a new version is rolled out', async () => {
        await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"version":"3.5.35"}}'`);
        for (const name of numbered(3))
          await waitFor(kubectl, `${peers}/${name}`, inSeconds(120, field('.status.serverVersion', '3.5.35')));
        await db.settled(3);
        expect(await db.status()).toMatchObject({ clusterVersion: '3.5.0', serverVersion: '3.5.35' });
      });
      await step('a CPU limit is rolled out and sets GOMAXPROCS', async () => {
        const podTemplate = {
          resources: { requests: { cpu: '10m' }, limits: { cpu: '2' } },
          metadata: { labels: { team: 'storage' } },
        };
        await kubectl(`patch ${db.resource} --type=merge -p '${JSON.stringify({ spec: { podTemplate } })}'`);
        await until(
          'three pods with the new template',
          async () => {
            const env = '.spec.containers[0].env[?(@.name=="GOMAXPROCS")].value';
            return (await fieldOf(kubectl, 'pods -l team=storage', env)) === '2 2 2' || undefined;
          },
          { seconds: 120 },
        );
        await db.settled(3);
        const limit = '.spec.podTemplate.resources.limits.cpu';
        for (const name of numbered(3)) expect(await fieldOf(kubectl, `${peers}/${name}`, limit)).toBe('2');
      });
    });
    expect(await db.ids()).toEqual(before);
  },
);

story.onOurCluster(
  'numbered members get managed certificates, and clients use the published Secret',
  async (context) => {
    const { kubectl, step } = context;
    const db = declaredIn(improbable)(kubectl, 'db', () => clientAccessIn(kubectl, 'db-client-tls'));
    await installFor(improbable, context);
    await step('one member serves clients with the published certificate', async () => {
      await db.apply({ size: 1, version, extra: { tls: { managed: {} } } });
      await db.settled(1);
    });
    await underTraffic(db, async () => {
      await step('members added later have certificates', async () => {
        await kubectl(`scale ${db.resource} --replicas=3`);
        await db.settled(3);
        const urls = (await db.members()).flatMap(({ peerURLs, clientURLs }) => [...peerURLs, ...clientURLs]);
        expect(urls.filter((url) => !url.startsWith('https:'))).toEqual([]);
        expect(await fieldOf(kubectl, 'service/db', '.spec.ports[*].name')).toContain('etcd-client-ssl');
      });
    });
  },
);
