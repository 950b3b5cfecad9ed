import { expect } from 'vitest';
import { namesOf, shown } from '../support/api.ts';
import { type DeclaredCluster, declared } from '../support/cluster.ts';
import { conditionOf } from '../support/conditions.ts';
import { eventsSay } from '../support/events.ts';
import type { Entry } from '../support/member-endpoints.ts';
import { installOperator } from '../support/operator.ts';
import { type Story, story } from '../support/story.ts';
import { certificatesFor, tlsOf } from '../support/tls-cluster.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { waitForDeletion } from '../support/waits.ts';

/** Says something else about TLS, and waits until that is how all members listen. */
async function switchTo({ kubectl }: Pick<Story, 'kubectl'>, db: DeclaredCluster, wish: Wish): Promise<void> {
  await kubectl(`patch etcdcluster db --type=merge -p '${JSON.stringify({ spec: { TLS: wish.TLS } })}'`);
  await until(
    wish.listens,
    async () => {
      const commands = await shown(kubectl, 'pods -l etcd_cluster=db', '.spec.containers[0].command');
      return commands.split(`${wish.listens}"`).length - 1 === 3 || undefined;
    },
    { seconds: 180 },
  );
  await db.settled(3);
}

interface Wish {
  readonly TLS: object | null;
  /** What the command of every member then says. */
  readonly listens: string;
}

story.asOnTheLab('encryption between members is switched on and off while clients go on', async (told) => {
  const { kubectl, step, namespace } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await db.apply({ size: 3, version: '3.5.35', durable: true });
  await db.settled(3);
  const members = await db.ids();
  const schemes = async (): Promise<ReadonlySet<string>> =>
    new Set((await db.members()).flatMap(({ peerURLs }) => peerURLs.map((url) => url.split(':')[0] ?? '')));
  await underTraffic(db, async () => {
    await step('on', async () => {
      await (await certificatesFor(kubectl, { name: 'db', namespace })).write();
      await switchTo(told, db, { TLS: tlsOf('db', ['peer']), listens: '--listen-peer-urls=https://0.0.0.0:2380' });
      expect(await schemes()).toEqual(new Set(['https']));
    });
    await step('off', async () => {
      await switchTo(told, db, { TLS: null, listens: '--listen-peer-urls=http://0.0.0.0:2380' });
      await until(
        'nobody has certificates',
        async () => {
          const volumes = await shown(kubectl, 'pods -l etcd_cluster=db', '.spec.volumes[*].name');
          return !volumes.includes('member-peer-tls') || undefined;
        },
        { seconds: 120 },
      );
      await db.settled(3);
      expect(await schemes()).toEqual(new Set(['http']));
    });
    await step('nothing is left of certificates but what the user has made', async () => {
      await waitForDeletion(kubectl, 'secret/db-member-tls');
      expect(await namesOf(kubectl, 'secrets -l etcd_cluster=db')).toEqual([]);
      expect(await kubectl('get secrets db-peer db-server -o name')).toContain('db-server');
    });
  });
  await step('they are the same members', async () => expect(await db.ids()).toEqual(members));
});

const toClients = async (db: DeclaredCluster): Promise<string | undefined> =>
  (await conditionOf(db, 'ClientsMoving'))?.message;

story.asOnTheLab('clients are moved to encryption and back, with both served in between', async (told) => {
  const { kubectl, step, namespace } = told;
  const certificates = await certificatesFor(kubectl, { name: 'db', namespace });
  await certificates.write();
  const secure: Entry = { tls: await certificates.client() };
  let entry: Entry = {};
  const db = declared(kubectl, 'db', async () => entry);
  await installOperator(told);
  await db.apply({ size: 3, version: '3.6.16', durable: true });
  await db.settled(3);
  const TLS = tlsOf('db', ['client']);
  const either = '--listen-client-urls=http://0.0.0.0:2379,https://0.0.0.0:2379';
  await underTraffic(db, async () => {
    await step('members serve both, and clients are told what to do', async () => {
      expect(await toClients(db)).toBeUndefined();
      await switchTo(told, db, { TLS: { ...TLS, acceptPlainClients: true }, listens: either });
      expect(await toClients(db)).toContain('move each to https with a certificate before acceptPlainClients is taken');
    });
    entry = secure;
    await step('when clients have moved, encryption is demanded', async () => {
      await switchTo(told, db, {
        TLS: { acceptPlainClients: null },
        listens: '--listen-client-urls=https://0.0.0.0:2379',
      });
      expect(await toClients(db)).toBeUndefined();
      await eventsSay(kubectl, { reason: 'ClientsMoving' }, ['each has to use https and show a certificate']);
    });
    await step('both again', () => switchTo(told, db, { TLS: { acceptPlainClients: true }, listens: either }));
    entry = {};
    await step('off', () => switchTo(told, db, { TLS: null, listens: '--listen-client-urls=http://0.0.0.0:2379' }));
    await step('and nothing is kept for it any more', () => waitForDeletion(kubectl, 'secret/db-member-tls'));
  });
});
