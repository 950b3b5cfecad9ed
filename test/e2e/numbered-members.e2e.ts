import { expect } from 'vitest';
import { shown } from '../support/api.ts';
import { improbable } from '../support/apis.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import { eventsSay } from '../support/events.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installFor } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { entryIn } from '../support/tls-cluster.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { field, inSeconds, waitFor } from '../support/waits.ts';

const version = '3.6.16';
const peers = 'etcdpeers.etcd.improbable.io';

const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `db-${i}`);

/** That there are so many peers, pods and volumes of members, with the lowest numbers, and no others. */
async function hasOnly(count: number, db: DeclaredCluster, kubectl: Kubectl): Promise<void> {
  const member = '.metadata.labels.etcd\\.improbable\\.io/peer-name';
  for (const [kind, path] of [
    [peers, '.metadata.name'],
    ['pods', '.metadata.name'],
    ['persistentvolumeclaims', member],
  ] as const) {
    await until(`${count} ${kind}`, async () => {
      const names = (await shown(kubectl, `${kind} -l ${db.label}`, path)).split(' ').filter(Boolean);
      return names.toSorted().join() === numbered(count).join() || undefined;
    });
  }
}

/** What etcd itself says of its members agrees with what the status says. */
async function saysWhoItsMembersAre(db: DeclaredCluster): Promise<void> {
  const members = (await db.members()).map(({ id, name }) => ({ id: id.toString(16), name }));
  await until('the status names the members of etcd', async () => {
    const said = (await db.status())['members'] as readonly { readonly id: string; readonly name: string }[];
    const names = said.map(({ id, name }) => ({ id, name }));
    expect(names).toEqual(expect.arrayContaining(members));
    return names.length === members.length || undefined;
  });
}

const toldOfTheFifth = [
  'Created a new EtcdPeer with name "db-4"',
  'Added a new member with name "db-4"',
  'Removed a member with name "db-4"',
  'Removed EtcdPeer with name "db-4"',
];

story.inFull('numbered members come and go with peer, pod and volume, and nothing is lost', async (told) => {
  const { kubectl, step } = told;
  const db = declaredIn(improbable)(kubectl);
  await installFor(improbable, told);
  await step('three members serve', async () => {
    await db.apply({ size: 3, version });
    await db.settled(3);
    await hasOnly(3, db, kubectl);
    await saysWhoItsMembersAre(db);
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
    await saysWhoItsMembersAre(db);
  });
  await step(`nothing was lost: ${written} written, longest pause ${longestPause.toFixed(0)} ms`, async () => {
    await eventsSay(kubectl, { name: 'db' }, toldOfTheFifth);
  });
});

story.asOnTheLab('a numbered member keeps its name and its data, whatever is taken from it', async (told) => {
  const { kubectl, step } = told;
  const db = declaredIn(improbable)(kubectl);
  await installFor(improbable, told);
  await db.apply({ size: 3, version });
  await db.settled(3);
  const before = await db.ids();
  const again = async (what: string, path = '.metadata.uid'): Promise<void> => {
    const old = await shown(kubectl, what, path);
    await kubectl(`delete ${what}`);
    await until(`another ${what}`, async () => {
      const now = await shown(kubectl, what, path);
      return (now !== '' && now !== old) || undefined;
    });
    await db.settled(3);
  };
  await underTraffic(db, async () => {
    await step('its pod', () => again('pod/db-1'));
    await step('its peer', () => again(`${peers}/db-1`));
    await step('the services', async () => {
      await again('service/db');
      await again('service/db-client');
    });
    await step('its peer is edited, and put right', async () => {
      await kubectl(`patch ${peers} db-2 --type=merge -p '{"spec":{"version":"3.4.31"}}'`);
      await waitFor(kubectl, `${peers}/db-2`, inSeconds(30, field('.spec.version', version)));
      const refused = await kubectl.refused(`patch ${peers} db-2 --type=merge -p '{"spec":{"clusterName":"other"}}'`);
      expect(refused).toContain('clusterName cannot be changed');
    });
    expect(await db.ids()).toEqual(before);
    await step('its volume: only then another member takes its place', async () => {
      await kubectl('delete persistentvolumeclaim db-1 --wait=false');
      await kubectl('delete pod db-1');
      await until('another member', async () => (await db.ids()).join() !== before.join() || undefined);
      await db.settled(3);
      expect((await db.ids()).filter((id) => before.includes(id))).toHaveLength(2);
    });
  });
});

story.asOnTheLab('another version and another template reach numbered members one after the other', async (told) => {
  const { kubectl, step } = told;
  const db = declaredIn(improbable)(kubectl);
  await installFor(improbable, told);
  await db.apply({ size: 3, version: '3.5.21' });
  await db.settled(3);
  const before = await db.ids();
  await underTraffic(db, async () => {
    await step('another version', async () => {
      await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"version":"3.5.35"}}'`);
      for (const name of numbered(3))
        await waitFor(kubectl, `${peers}/${name}`, inSeconds(120, field('.status.serverVersion', '3.5.35')));
      await db.settled(3);
      expect(await db.status()).toMatchObject({ clusterVersion: '3.5.0', serverVersion: '3.5.35' });
    });
    await step('a limit of processors, which etcd is told too', async () => {
      const podTemplate = {
        resources: { requests: { cpu: '10m' }, limits: { cpu: '2' } },
        metadata: { labels: { team: 'storage' } },
      };
      await kubectl(`patch ${db.resource} --type=merge -p '${JSON.stringify({ spec: { podTemplate } })}'`);
      await until(
        'three pods of the new kind',
        async () => {
          const env = '.spec.containers[0].env[?(@.name=="GOMAXPROCS")].value';
          return (await shown(kubectl, 'pods -l team=storage', env)) === '2 2 2' || undefined;
        },
        { seconds: 120 },
      );
      await db.settled(3);
      const limit = '.spec.podTemplate.resources.limits.cpu';
      for (const name of numbered(3)) expect(await shown(kubectl, `${peers}/${name}`, limit)).toBe('2');
    });
  });
  expect(await db.ids()).toEqual(before);
});

story.onOurCluster(
  'numbered members have certificates that the operator makes, and clients find theirs',
  async (told) => {
    const { kubectl, step } = told;
    const db = declaredIn(improbable)(kubectl, 'db', () => entryIn(kubectl, 'db-client-tls'));
    await installFor(improbable, told);
    await step('one member serves those who have the published certificate', async () => {
      await db.apply({ size: 1, version, extra: { tls: { managed: {} } } });
      await db.settled(1);
    });
    await underTraffic(db, async () => {
      await step('members that come later are covered', async () => {
        await kubectl(`scale ${db.resource} --replicas=3`);
        await db.settled(3);
        const urls = (await db.members()).flatMap(({ peerURLs, clientURLs }) => [...peerURLs, ...clientURLs]);
        expect(urls.filter((url) => !url.startsWith('https:'))).toEqual([]);
        expect(await shown(kubectl, 'service/db', '.spec.ports[*].name')).toContain('etcd-client-ssl');
      });
    });
  },
);
