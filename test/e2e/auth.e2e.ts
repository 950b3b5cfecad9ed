import { expect } from 'vitest';
import { declared } from '../support/cluster.ts';
import { conditionOf, toldOf } from '../support/conditions.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { certificatesFor, tlsOf } from '../support/tls-cluster.ts';
import { underTraffic } from '../support/traffic.ts';

const credentials = { user: 'root', password: 'open sesame' };
const extra = { auth: { operatorCredentials: 'root-user' } };

async function writeCredentials(kubectl: Kubectl, stringData: Readonly<Record<string, string>>): Promise<void> {
  const manifest = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'root-user' }, stringData };
  await kubectl('apply -f -', { input: JSON.stringify(manifest) });
}

const files = '/etc/etcdtls/member/server-tls';
const certified =
  `--endpoints=https://localhost:2379 --cacert=${files}/server-ca.crt ` +
  `--cert=${files}/server.crt --key=${files}/server.key`;

/** As an administrator does it, in a pod. */
async function switchAuthOn(kubectl: Kubectl, pod: string, entry: string): Promise<void> {
  const etcdctl = `exec ${pod} -c etcd -- env ETCDCTL_API=3 etcdctl ${entry}`;
  await kubectl(`${etcdctl} user add '${credentials.user}:${credentials.password}'`);
  await kubectl(`${etcdctl} role add root`).catch(() => ''); // later versions have it from the start
  await kubectl(`${etcdctl} user grant-role root root`);
  await kubectl(`${etcdctl} auth enable`);
  await kubectl.refused(`${etcdctl} put a b`);
}

const lives = [
  { from: '3.3.12', to: '3.4.31', isCertified: false },
  { from: '3.5.35', to: '3.6.16', isCertified: false },
  { from: '3.6.16', to: '3.7.3', isCertified: true },
];

for (const { from, to, isCertified } of lives)
  story(`a cluster of etcd ${from} whose auth is switched on grows, heals and is upgraded`, async (told) => {
    const { kubectl, step, namespace } = told;
    const certificates = await certificatesFor(kubectl, { name: 'db', namespace });
    const db = declared(kubectl, 'db', { credentials, ...(isCertified ? { tls: await certificates.client() } : {}) });
    await installOperator(told);
    await step('three members serve', async () => {
      await writeCredentials(kubectl, { username: credentials.user, password: credentials.password });
      await certificates.write();
      await db.apply({ size: 3, version: from, extra: { ...extra, TLS: tlsOf('db', isCertified ? ['client'] : []) } });
      await db.settled(3);
    });
    await underTraffic(db, async () => {
      await step('auth is switched on', async () => {
        const [pod = ''] = await db.podNames();
        await switchAuthOn(kubectl, pod, isCertified ? certified : '');
      });
      await step('3 to 5 to 3', async () => {
        for (const size of [5, 3]) {
          await kubectl(`scale etcdcluster db --replicas=${size}`);
          await db.settled(size);
        }
      });
      await step('a deleted pod is replaced', async () => {
        const [victim = ''] = await db.podNames();
        await kubectl(`delete pod ${victim}`);
        await db.replaced(victim, 3);
      });
      await step(`to ${to}`, async () => {
        await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"${to}"}}'`);
        await kubectl(`wait etcdcluster/db --for=jsonpath={.status.currentVersion}=${to} --timeout=120s`);
        await db.settled(3);
      });
    });
    if (to === '3.4.31')
      await step('3.5 is refused while auth is on, with what to do, and nobody is touched', async () => {
        await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"3.5.35"}}'`);
        expect(await toldOf(db, 'etcdctl auth disable')).toMatchObject({ reason: 'UpgradeRefused' });
        const images = await kubectl('get pods -l etcd_cluster=db -o jsonpath={.items[*].spec.containers[0].image}');
        expect(images).not.toContain('v3.5');
        await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"${to}"}}'`);
        await db.settled(3);
      });
    await step('a wrong password is told by Secret and key', async () => {
      await writeCredentials(kubectl, { username: 'root', password: 'guess' });
      const says = 'Secret root-user: etcd does not know this username with this password';
      expect(await toldOf(db, says)).toMatchObject({ reason: 'SecretUnfit' });
      await kubectl('delete secret root-user');
      await toldOf(db, 'Secret root-user does not exist: create it with username and password');
      expect(await db.podNames()).toHaveLength(3);
    });
    if (!isCertified)
      // whoever shows a certificate is taken for the user of that name, and may look
      await step('that no user is named at all is told, with the field', async () => {
        await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"auth":null}}'`);
        await toldOf(db, 'set spec.auth.operatorCredentials');
        await kubectl(`patch etcdcluster db --type=merge -p '${JSON.stringify({ spec: extra })}'`);
      });
    await step('the right one is used at once', async () => {
      await writeCredentials(kubectl, { username: credentials.user, password: credentials.password });
      await db.settled(3);
      expect(await conditionOf(db, 'Degraded')).toMatchObject({ status: 'False' });
    });
  });
