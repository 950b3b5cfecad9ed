import { expect } from 'vitest';
import { fieldOf, namesOf } from '../support/api.ts';
import { type DeclaredCluster, declared } from '../support/cluster.ts';
import { conditionOf } from '../support/conditions.ts';
import { eventsContain } from '../support/events.ts';
import type { ClientAccess } from '../support/member-endpoints.ts';
import { installOperator } from '../support/operator.ts';
import { type StoryContext, story } from '../support/story.ts';
import { certificatesFor, tlsOf } from '../support/tls-cluster.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { waitForDeletion } from '../support/waits.ts';

/** Changes the TLS of the spec, and waits until all members listen accordingly. */
async function switchTo(
  { kubectl }: Pick<StoryContext, 'kubectl'>,
  db: DeclaredCluster,
  target: TlsTarget,
): Promise<void> {
  await kubectl(`patch etcdcluster db --type=merge -p '${JSON.stringify({ spec: { TLS: target.TLS } })}'`);
  await until(
    target.listenFlag,
    async () => {
      const commands = await fieldOf(kubectl, 'pods -l etcd_cluster=db', '.spec.containers[0].command');
      return commands.split(`${target.listenFlag}"`).length - 1 === 3 || undefined;
    },
    { seconds: 180 },
  );
  await db.settled(3);
}

interface TlsTarget {
  readonly TLS: object | null;
  /** A flag in the command of every member after the change. */
  readonly listenFlag: string;
}

story.asOnTheLab('peer TLS is enabled and disabled while clients write', async (context) => {
  const { kubectl, step, namespace } = context;
  const db = declared(kubectl);
  await installOperator(context);
  await db.apply({ size: 3, version: '3.5.35', durable: true });
  await db.settled(3);
  const members = await db.ids();
  const schemes = async (): Promise<ReadonlySet<string>> =>
    new Set((await db.members()).flatMap(({ peerURLs }) => peerURLs.map((url) => url.split(':')[0] ?? '')));
  await underTraffic(db, async () => {
    await step('peer TLS is enabled', async () => {
      await (await certificatesFor(kubectl, { name: 'db', namespace })).write();
      await switchTo(context, db, {
        TLS: tlsOf('db', ['peer']),
        listenFlag: '--listen-peer-urls=https://0.0.0.0:2380',
      });
      expect(await schemes()).toEqual(new Set(['https']));
    });
    await step('peer TLS is disabled', async () => {
      await switchTo(context, db, { TLS: null, listenFlag: '--listen-peer-urls=http://0.0.0.0:2380' });
      await until(
        'no pod mounts certificates',
        async () => {
          const volumes = await fieldOf(kubectl, 'pods -l etcd_cluster=db', '.spec.volumes[*].name');
          return !volumes.includes('member-peer-tls') || undefined;
        },
        { seconds: 120 },
      );
      await db.settled(3);
      expect(await schemes()).toEqual(new Set(['http']));
    });
    await step('the member Secret is deleted, and the Secrets of the user stay', async () => {
      await waitForDeletion(kubectl, 'secret/db-member-tls');
      expect(await namesOf(kubectl, 'secrets -l etcd_cluster=db')).toEqual([]);
      expect(await kubectl('get secrets db-peer db-server -o name')).toContain('db-server');
    });
  });
  await step('the member IDs are unchanged', async () => expect(await db.ids()).toEqual(members));
});

const clientsMovingMessage = async (db: DeclaredCluster): Promise<string | undefined> =>
  (await conditionOf(db, 'ClientsMoving'))?.message;

story.asOnTheLab('client TLS is enabled and disabled by way of dual-mode while clients write', async (context) => {
  const { kubectl, step, namespace } = context;
  const certificates = await certificatesFor(kubectl, { name: 'db', namespace });
  await certificates.write();
  const secure: ClientAccess = { tls: await certificates.client() };
  let access: ClientAccess = {};
  const db = declared(kubectl, 'db', async () => access);
  await installOperator(context);
  await db.apply({ size: 3, version: '3.6.16', durable: true });
  await db.settled(3);
  const TLS = tlsOf('db', ['client']);
  const either = '--listen-client-urls=http://0.0.0.0:2379,https://0.0.0.0:2379';
  await underTraffic(db, async () => {
    await step('members serve http and https, and a condition has the instruction for clients', async () => {
      expect(await clientsMovingMessage(db)).toBeUndefined();
      await switchTo(context, db, { TLS: { ...TLS, acceptPlainClients: true }, listenFlag: either });
      expect(await clientsMovingMessage(db)).toContain(
        'move all clients to https with a client certificate before acceptPlainClients is',
      );
    });
    access = secure;
    await step('after the clients have moved, members serve https only', async () => {
      await switchTo(context, db, {
        TLS: { acceptPlainClients: null },
        listenFlag: '--listen-client-urls=https://0.0.0.0:2379',
      });
      expect(await clientsMovingMessage(db)).toBeUndefined();
      await eventsContain(kubectl, { reason: 'ClientsMoving' }, ['clients must use https with a client certificate']);
    });
    await step('members serve http and https again', () =>
      switchTo(context, db, { TLS: { acceptPlainClients: true }, listenFlag: either }),
    );
    access = {};
    await step('client TLS is disabled', () =>
      switchTo(context, db, { TLS: null, listenFlag: '--listen-client-urls=http://0.0.0.0:2379' }),
    );
    await step('the member Secret is deleted', () => waitForDeletion(kubectl, 'secret/db-member-tls'));
  });
});
