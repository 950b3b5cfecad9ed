import { expect } from 'vitest';
import { declared } from '../support/cluster.ts';
import { installOperator } from '../support/operator.ts';
import { type Story, story } from '../support/story.ts';
import { certificatesFor, type Plane, tlsOf } from '../support/tls-cluster.ts';
import { expectServed, served, underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';

const files = '/etc/etcdtls/member/server-tls';
const withFiles = `--cacert=${files}/server-ca.crt --cert=${files}/server.crt --key=${files}/server.key`;

/** etcd's own client inside a pod is let in by its certificate, and by nothing else. */
async function etcdctlNeedsCertificates({ kubectl }: Pick<Story, 'kubectl'>, pod: string): Promise<void> {
  const etcdctl = `exec ${pod} -c etcd -- etcdctl --endpoints=https://localhost:2379`;
  expect(await kubectl(`${etcdctl} ${withFiles} put a b`)).toContain('OK');
  expect(await kubectl(`${etcdctl} ${withFiles} get a`)).toContain('b');
  await kubectl.refused(`${etcdctl} --cacert=${files}/server-ca.crt --command-timeout=2s get a`);
  await kubectl.refused(`exec ${pod} -c etcd -- etcdctl --endpoints=http://localhost:2379 --command-timeout=2s get a`);
}

interface Combination {
  readonly title: string;
  readonly planes: readonly Plane[];
  readonly version: string;
  readonly tell: typeof story.inFull;
}

const both: readonly Plane[] = ['peer', 'client'];
const combinations: readonly Combination[] = [
  { title: 'between members', planes: ['peer'], version: '3.4.31', tell: story.asOnTheLab },
  { title: 'for clients', planes: ['client'], version: '3.5.35', tell: story.asOnTheLab },
  { title: 'between members and for clients', planes: both, version: '3.7.3', tell: story.inFull },
  { title: 'between members and for clients of an old etcd', planes: both, version: '3.2.13', tell: story.asOnTheLab },
];

for (const { title, planes, version, tell } of combinations) {
  tell(`with certificates ${title} a cluster is created, grows, shrinks and heals`, async (told) => {
    const { kubectl, step, namespace } = told;
    await installOperator(told);
    const certificates = await certificatesFor(kubectl, { name: 'db', namespace });
    const isCertified = planes.includes('client');
    const db = declared(kubectl, 'db', isCertified ? { tls: await certificates.client() } : {});
    await step('three members serve', async () => {
      await certificates.write();
      await db.apply({ size: 3, version, extra: { TLS: tlsOf('db', planes) } });
      await db.settled(3);
    });
    await step('URLs say so', async () => {
      const [member] = await db.members();
      expect(member?.peerURLs[0]).toMatch(planes.includes('peer') ? /^https:/ : /^http:/);
      expect(member?.clientURLs[0]).toMatch(isCertified ? /^https:/ : /^http:/);
    });
    const experience = await underTraffic(db, async () => {
      await step('3 to 5', async () => {
        await kubectl('scale etcdcluster db --replicas=5');
        await db.settled(5);
      });
      await step('5 to 3', async () => {
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
    await step(`no write was lost: ${served(experience)}`, async () => expectServed(experience));
    if (isCertified && version !== '3.2.13')
      await step('etcdctl in a pod needs a certificate', async () => {
        const [pod = ''] = await db.podNames();
        await etcdctlNeedsCertificates(told, pod);
      });
  });
}
