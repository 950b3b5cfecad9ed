import { expect } from 'vitest';
import { shown } from '../support/api.ts';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { createSecret } from '../support/backups.ts';
import { declaredIn } from '../support/cluster.ts';
import { conditionOf, toldOf } from '../support/conditions.ts';
import { installFor } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { certificatesFor, type Plane, tlsOf } from '../support/tls-cluster.ts';
import { underTraffic } from '../support/traffic.ts';
import { asRoot, credentials, switchAuthOn, usersSecret } from '../support/users.ts';
import { field, inSeconds, waitFor } from '../support/waits.ts';

const files = '/etc/etcdtls/member/server-tls';
const certified =
  `--endpoints=https://localhost:2379 --cacert=${files}/server-ca.crt ` +
  `--cert=${files}/server.crt --key=${files}/server.key`;

interface Life {
  readonly api: Api;
  readonly from: string;
  readonly to: string;
  readonly planes: readonly Plane[];
  readonly tell: typeof story.inFull;
}

const lives: readonly Life[] = [
  { api: coreos, from: '3.3.12', to: '3.4.31', planes: [], tell: story.asOnTheLab },
  { api: coreos, from: '3.5.35', to: '3.6.16', planes: [], tell: story.asOnTheLab },
  { api: coreos, from: '3.6.16', to: '3.7.3', planes: ['client'], tell: story.asOnTheLab },
  { api: improbable, from: '3.6.16', to: '3.7.3', planes: ['peer', 'client'], tell: story.asOnTheLab },
];

for (const { api, from, to, planes, tell } of lives) {
  const isCertified = planes.includes('client');
  const title = `a cluster of etcd ${from} whose auth is switched on grows, heals and is upgraded`;
  tell(api === coreos ? title : `${title}, in the API of the talk`, async (told) => {
    const { kubectl, step, namespace } = told;
    const certificates = await certificatesFor(kubectl, { name: 'db', namespace });
    const db = declaredIn(api)(kubectl, 'db', {
      credentials,
      ...(isCertified ? { tls: await certificates.client() } : {}),
    });
    await installFor(api, told);
    await step('three members serve', async () => {
      await createSecret(kubectl, usersSecret.name, usersSecret.content);
      await certificates.write();
      await db.apply({ size: 3, version: from, extra: { ...asRoot, [api.tlsField]: tlsOf('db', planes) } });
      await db.settled(3);
    });
    await underTraffic(db, async () => {
      const [pod = ''] = await db.podNames();
      if (api === improbable)
        // of the other API, tls.e2e.ts tells it
        await step('whoever shows no certificate is not let in', async () => {
          const etcdctl = `exec ${pod} -c etcd -- etcdctl`;
          expect(await kubectl(`${etcdctl} ${certified} put a b`)).toBe('OK\n');
          const [plain, secure] = ['--endpoints=http://localhost:2379', '--endpoints=https://localhost:2379'];
          for (const entry of [plain, `${secure} --cacert=${files}/server-ca.crt`])
            await kubectl.refused(`${etcdctl} ${entry} --command-timeout=1s get a`);
        });
      await step('auth is switched on', async () => {
        await switchAuthOn(kubectl, pod, isCertified ? certified : '');
      });
      const most = api === improbable ? 4 : 5;
      await step(`3 to ${most} to 3`, async () => {
        for (const size of [most, 3]) {
          await kubectl(`scale ${db.resource} --replicas=${size}`);
          await db.settled(size);
        }
      });
      await step('a deleted pod is replaced', async () => {
        const [victim = ''] = await db.podNames();
        await kubectl(`delete pod ${victim}`);
        await db.healed(victim, 3);
      });
      await step(`to ${to}`, async () => {
        await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"version":"${to}"}}'`);
        await waitFor(kubectl, db.resource, inSeconds(120, field(`.status.${api.status.version}`, to)));
        await db.settled(3);
      });
    });
    if (to === '3.4.31')
      await step('3.5 is refused while auth is on, with what to do, and nobody is touched', async () => {
        await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"version":"3.5.35"}}'`);
        expect(await toldOf(db, 'etcdctl auth disable')).toMatchObject({ reason: 'UpgradeRefused' });
        const images = await shown(kubectl, `pods -l ${db.label}`, '.spec.containers[0].image');
        expect(images).not.toContain('v3.5');
        await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"version":"${to}"}}'`);
        await db.settled(3);
      });
    await step('a wrong password is told by Secret and key', async () => {
      await createSecret(kubectl, usersSecret.name, { username: 'root', password: 'guess' });
      // A change of the spec has Secrets read at once; tls-secrets.e2e.ts waits for the minute after which that is done anyway.
      await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"replaceMemberAfterSeconds":299}}'`);
      const says = 'Secret root-user: etcd does not know this username with this password';
      expect(await toldOf(db, says)).toMatchObject({ reason: 'SecretUnfit' });
      await kubectl('delete secret root-user');
      await toldOf(db, 'Secret root-user does not exist: create it with username and password');
      expect(await db.podNames()).toHaveLength(3);
    });
    if (!isCertified)
      // whoever shows a certificate is taken for the user of that name, and may look
      await step('that no user is named at all is told, with the field', async () => {
        await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"auth":null}}'`);
        await toldOf(db, "set the cluster's spec.auth.operatorCredentials");
        await kubectl(`patch ${db.resource} --type=merge -p '${JSON.stringify({ spec: asRoot })}'`);
      });
    await step('the right one is used at once', async () => {
      await createSecret(kubectl, usersSecret.name, usersSecret.content);
      await db.settled(3);
      expect(await conditionOf(db, 'Degraded')).toMatchObject({ status: 'False' });
    });
  });
}
