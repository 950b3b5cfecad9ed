import { expect } from 'vitest';
import { declared } from '../support/cluster.ts';
import { installOperator } from '../support/operator.ts';
import { type StoryContext, story } from '../support/story.ts';
import { certificatesFor, type TlsSide, tlsOf } from '../support/tls-cluster.ts';
import { expectServed, served, underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';

const files = '/etc/etcdtls/member/server-tls';
const withFiles = `--cacert=${files}/server-ca.crt --cert=${files}/server.crt --key=${files}/server.key`;

/** etcdctl in a pod is accepted with a client certificate only. */
async function etcdctlNeedsCertificates({ kubectl }: Pick<StoryContext, 'kubectl'>, pod: string): Promise<void> {
  const etcdctl = `exec ${pod} -c etcd -- etcdctl --endpoints=https://localhost:2379`;
  expect(await kubectl(`${etcdctl} ${withFiles} put a b`)).toContain('OK');
  expect(await kubectl(`${etcdctl} ${withFiles} get a`)).toContain('b');
  await kubectl.refused(`${etcdctl} --cacert=${files}/server-ca.crt --command-timeout=2s get a`);
  await kubectl.refused(`exec ${pod} -c etcd -- etcdctl --endpoints=http://localhost:2379 --command-timeout=2s get a`);
}

interface Combination {
  readonly title: string;
  readonly sides: readonly TlsSide[];
  readonly version: string;
  readonly declareStory: typeof story.inFull;
}

const both: readonly TlsSide[] = ['peer', 'client'];
const combinations: readonly Combination[] = [
  { title: 'peer TLS', sides: ['peer'], version: '3.4.31', declareStory: story.asOnTheLab },
  { title: 'client TLS', sides: ['client'], version: '3.5.35', declareStory: story.asOnTheLab },
  { title: 'peer and client TLS', sides: both, version: '3.7.3', declareStory: story.inFull },
  { title: 'peer and client TLS of etcd 3.2', sides: both, version: '3.2.13', declareStory: story.asOnTheLab },
];

for (const { title, sides, version, declareStory } of combinations) {
  declareStory(`a cluster with ${title} is created, scaled and healed`, async (context) => {
    const { kubectl, step, namespace } = context;
    await installOperator(context);
    const certificates = await certificatesFor(kubectl, { name: 'db', namespace });
    const isCertified = sides.includes('client');
    const db = declared(kubectl, 'db', isCertified ? { tls: await certificates.client() } : {});
    await step('three members serve', async () => {
      await certificates.write();
      await db.apply({ size: 3, version, extra: { TLS: tlsOf('db', sides) } });
      await db.settled(3);
    });
    await step('the member URLs have the right scheme', async () => {
      const [member] = await db.members();
      expect(member?.peerURLs[0]).toMatch(sides.includes('peer') ? /^https:/ : /^http:/);
      expect(member?.clientURLs[0]).toMatch(isCertified ? /^https:/ : /^http:/);
    });
    const stats = await underTraffic(db, async () => {
      await step('scaled from 3 to 5', async () => {
        await kubectl('scale etcdcluster db --replicas=5');
        await db.settled(5);
      });
      await step('scaled from 5 to 3', async () => {
        await kubectl('scale etcdcluster db --replicas=3');
        await db.settled(3);
        await until('three pods', async () => (await db.podNames()).length === 3 || undefined);
      });
      await step('a deleted pod is replaced', async () => {
        const [victim = ''] = await db.podNames();
        await kubectl(`delete pod ${victim}`);
        await db.replaced(victim, 3);
      });
    });
    await step(`no write was lost: ${served(stats)}`, async () => expectServed(stats));
    if (isCertified && version !== '3.2.13')
      await step('etcdctl in a pod needs a certificate', async () => {
        const [pod = ''] = await db.podNames();
        await etcdctlNeedsCertificates(context, pod);
      });
  });
}
