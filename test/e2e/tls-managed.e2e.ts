import { expect } from 'vitest';
import { connectionTo } from '../../src/etcd/client.ts';
import { read } from '../support/api.ts';
import { declared } from '../support/cluster.ts';
import { endpointsOf } from '../support/member-endpoints.ts';
import { installOperator } from '../support/operator.ts';
import { certificatesServed, podUidsAndRestarts } from '../support/served-certificates.ts';
import { type StoryContext, story } from '../support/story.ts';
import { clientAccessIn } from '../support/tls-cluster.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { created, waitFor, waitForDeletion } from '../support/waits.ts';

const version = '3.6.16';

/** Patches `spec.TLS.managed`. */
const patchManaged = ({ kubectl }: Pick<StoryContext, 'kubectl'>, managed: object): Promise<string> =>
  kubectl(`patch etcdcluster db --type=merge -p '${JSON.stringify({ spec: { TLS: { managed } } })}'`);

const fileIn = async ({ kubectl }: Pick<StoryContext, 'kubectl'>, secret: string, file: string): Promise<string> => {
  const { data } = await read<{ data: Readonly<Record<string, string>> }>(kubectl, `secret/${secret}`);
  return Buffer.from(data[file] ?? '', 'base64').toString();
};

const certificateCount = (text: string): number => text.split('BEGIN CERTIFICATE').length - 1;

story.asOnTheLab('managed certificates are issued by the operator and renewed without a restart', async (context) => {
  const { kubectl, step } = context;
  const db = declared(kubectl, 'db', () => clientAccessIn(kubectl, 'db-client-tls'));
  await installOperator(context);
  await step('one member serves clients with the published certificate', async () => {
    await db.apply({ size: 1, version, extra: { TLS: { managed: {} } } });
    await db.settled(1);
    const [member] = await db.members();
    expect([member?.peerURLs[0], member?.clientURLs[0]]).toEqual([
      expect.stringMatching(/^https:/),
      expect.stringMatching(/^https:/),
    ]);
  });
  await underTraffic(db, async () => {
    await step('members added later have certificates', async () => {
      await kubectl('scale etcdcluster db --replicas=3');
      await db.settled(3);
    });
    await step('a changed lifetime renews all certificates, and no pod restarts', async () => {
      const before = await podUidsAndRestarts(kubectl);
      const old = await fileIn(context, 'db-member-tls', 'server.crt');
      await patchManaged(context, { certificateLifetimeHours: 48 });
      await until(
        'new certificates',
        async () => (await fileIn(context, 'db-member-tls', 'server.crt')) !== old || undefined,
      );
      const [peer, server] = [
        await fileIn(context, 'db-member-tls', 'peer.crt'),
        await fileIn(context, 'db-member-tls', 'server.crt'),
      ];
      await certificatesServed(kubectl, { peer, server });
      expect(await podUidsAndRestarts(kubectl)).toBe(before);
    });
    await step('a deleted published Secret is recreated', async () => {
      await kubectl('delete secret db-client-tls');
      await waitFor(kubectl, 'secret/db-client-tls', created);
    });
  });
  await step('the deleted cluster leaves no Secret', async () => {
    await kubectl('delete etcdcluster db');
    await waitForDeletion(kubectl, 'secret -l etcd_cluster=db');
  });
});

story.asOnTheLab('a CA rotation completes while clients write', async (context) => {
  const { kubectl, step } = context;
  const db = declared(kubectl, 'db', () => clientAccessIn(kubectl, 'db-client-tls'));
  await installOperator(context);
  await db.apply({ size: 3, version, durable: true, extra: { TLS: { managed: {} } } });
  await db.settled(3);
  const old = await clientAccessIn(kubectl, 'db-client-tls');
  const members = await db.ids();
  await underTraffic(db, async () => {
    await step('spec.TLS.managed.rotate rotates the CA', async () => {
      await patchManaged(context, { rotate: 'now' });
      const isNew = async (): Promise<true | undefined> => {
        const { ca } = (await clientAccessIn(kubectl, 'db-client-tls')).tls;
        return (certificateCount(ca) === 1 && ca !== old.tls.ca) || undefined;
      };
      await until('the published Secret has the new CA only', isNew, { seconds: 180 });
      await db.settled(3);
    });
  });
  await step('the member IDs are unchanged', async () => expect(await db.ids()).toEqual(members));
  await step('a client certificate of the old CA is refused', async () => {
    const endpoints = await endpointsOf(kubectl, db, {
      tls: { ...old.tls, ca: (await clientAccessIn(kubectl, 'db-client-tls')).tls.ca },
    });
    for (const endpoint of endpoints) {
      const connection = connectionTo(endpoint);
      await expect(connection.status({ timeoutMillis: 20_000 })).rejects.toThrow(/TLS failed|no connection/);
      connection.close();
    }
  });
});
