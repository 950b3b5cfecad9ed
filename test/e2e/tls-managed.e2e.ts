import { expect } from 'vitest';
import { connectionTo } from '../../src/etcd/client.ts';
import { read } from '../support/api.ts';
import { declared } from '../support/cluster.ts';
import { endpointsOf } from '../support/member-endpoints.ts';
import { installOperator } from '../support/operator.ts';
import { bodiesOf, showing } from '../support/shown.ts';
import { type Story, story } from '../support/story.ts';
import { entryIn } from '../support/tls-cluster.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { created, waitFor, waitForDeletion } from '../support/waits.ts';

const version = '3.6.16';

/** Asks for something in `spec.TLS.managed`. */
const manage = ({ kubectl }: Pick<Story, 'kubectl'>, managed: object): Promise<string> =>
  kubectl(`patch etcdcluster db --type=merge -p '${JSON.stringify({ spec: { TLS: { managed } } })}'`);

const fileIn = async ({ kubectl }: Pick<Story, 'kubectl'>, secret: string, file: string): Promise<string> => {
  const { data } = await read<{ data: Readonly<Record<string, string>> }>(kubectl, `secret/${secret}`);
  return Buffer.from(data[file] ?? '', 'base64').toString();
};

const authoritiesIn = (text: string): number => text.split('BEGIN CERTIFICATE').length - 1;

story.asOnTheLab('the operator makes the certificates itself, and renews them without a restart', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl, 'db', () => entryIn(kubectl, 'db-client-tls'));
  await installOperator(told);
  await step('one member serves those who have the published certificate', async () => {
    await db.apply({ size: 1, version, extra: { TLS: { managed: {} } } });
    await db.settled(1);
    const [member] = await db.members();
    expect([member?.peerURLs[0], member?.clientURLs[0]]).toEqual([
      expect.stringMatching(/^https:/),
      expect.stringMatching(/^https:/),
    ]);
  });
  await underTraffic(db, async () => {
    await step('members that come later are covered', async () => {
      await kubectl('scale etcdcluster db --replicas=3');
      await db.settled(3);
    });
    await step(
      'another lifetime is a reason to renew: everybody shows new certificates, and nobody was restarted',
      async () => {
        const before = await bodiesOf(kubectl);
        const old = await fileIn(told, 'db-member-tls', 'server.crt');
        await manage(told, { certificateLifetimeHours: 48 });
        await until(
          'new certificates',
          async () => (await fileIn(told, 'db-member-tls', 'server.crt')) !== old || undefined,
        );
        const [peer, server] = [
          await fileIn(told, 'db-member-tls', 'peer.crt'),
          await fileIn(told, 'db-member-tls', 'server.crt'),
        ];
        await showing(kubectl, { peer, server });
        expect(await bodiesOf(kubectl)).toBe(before);
      },
    );
    await step('a published Secret that somebody deletes is there again', async () => {
      await kubectl('delete secret db-client-tls');
      await waitFor(kubectl, 'secret/db-client-tls', created);
    });
  });
  await step('deleted, it leaves no Secret', async () => {
    await kubectl('delete etcdcluster db');
    await waitForDeletion(kubectl, 'secret -l etcd_cluster=db');
  });
});

story.asOnTheLab('a new authority takes the place of the old one while clients go on', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl, 'db', () => entryIn(kubectl, 'db-client-tls'));
  await installOperator(told);
  await db.apply({ size: 3, version, durable: true, extra: { TLS: { managed: {} } } });
  await db.settled(3);
  const old = await entryIn(kubectl, 'db-client-tls');
  const members = await db.ids();
  await underTraffic(db, async () => {
    await step('somebody asks for it, and it is done', async () => {
      await manage(told, { rotate: 'now' });
      const isNew = async (): Promise<true | undefined> => {
        const { ca } = (await entryIn(kubectl, 'db-client-tls')).tls;
        return (authoritiesIn(ca) === 1 && ca !== old.tls.ca) || undefined;
      };
      await until('clients are given the new authority alone', isNew, { seconds: 180 });
      await db.settled(3);
    });
  });
  await step('they are the same members', async () => expect(await db.ids()).toEqual(members));
  await step('whoever knows only the old authority is a stranger now', async () => {
    const endpoints = await endpointsOf(kubectl, db, {
      tls: { ...old.tls, ca: (await entryIn(kubectl, 'db-client-tls')).tls.ca },
    });
    for (const endpoint of endpoints) {
      const connection = connectionTo(endpoint);
      await expect(connection.status({ timeoutMillis: 20_000 })).rejects.toThrow(/TLS failed|no connection/);
      connection.close();
    }
  });
});
