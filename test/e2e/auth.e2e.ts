import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { createSecret } from '../support/backups.ts';
import { declaredIn } from '../support/cluster.ts';
import { conditionOf, degradedWith } from '../support/conditions.ts';
import { installFor } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { certificatesFor, type TlsSide, tlsOf } from '../support/tls-cluster.ts';
import { underTraffic } from '../support/traffic.ts';
import { asRoot, credentials, enableAuth, rootUserSecret } from '../support/users.ts';
import { field, inSeconds, waitFor } from '../support/waits.ts';

const files = '/etc/etcdtls/member/server-tls';
const certified =
  `--endpoints=https://localhost:2379 --cacert=${files}/server-ca.crt ` +
  `--cert=${files}/server.crt --key=${files}/server.key`;

interface AuthCase {
  readonly api: Api;
  readonly from: string;
  readonly to: string;
  readonly sides: readonly TlsSide[];
  readonly declareStory: typeof story.inFull;
}

const cases: readonly AuthCase[] = [
  { api: coreos, from: '3.3.12', to: '3.4.31', sides: [], declareStory: story.asOnTheLab },
  { api: coreos, from: '3.5.35', to: '3.6.16', sides: [], declareStory: story.asOnTheLab },
  { api: coreos, from: '3.6.16', to: '3.7.3', sides: ['client'], declareStory: story.asOnTheLab },
  { api: improbable, from: '3.6.16', to: '3.7.3', sides: ['peer', 'client'], declareStory: story.asOnTheLab },
];

for (const { api, from, to, sides, declareStory } of cases) {
  const isCertified = sides.includes('client');
  const title = `a cluster of etcd ${from} with auth enabled is scaled, healed and upgraded`;
  declareStory(api === coreos ? title : `${title}, in the improbable API`, async (context) => {
    const { kubectl, step, namespace } = context;
    const certificates = await certificatesFor(kubectl, { name: 'db', namespace });
    const db = declaredIn(api)(kubectl, 'db', {
      credentials,
      ...(isCertified ? { tls: await certificates.client() } : {}),
    });
    await installFor(api, context);
    await step('three members serve', async () => {
      await createSecret(kubectl, rootUserSecret.name, rootUserSecret.content);
      await certificates.write();
      await db.apply({ size: 3, version: from, extra: { ...asRoot, [api.tlsField]: tlsOf('db', sides) } });
      await db.settled(3);
    });
    await underTraffic(db, async () => {
      const [pod = ''] = await db.podNames();
      if (api === improbable)
        // tls.e2e.ts checks this for the coreos API
        await step('a client without a certificate is refused', async () => {
          const etcdctl = `exec ${pod} -c etcd -- etcdctl`;
          expect(await kubectl(`${etcdctl} ${certified} put a b`)).toBe('OK\n');
          const [plain, secure] = ['--endpoints=http://localhost:2379', '--endpoints=https://localhost:2379'];
          for (const entry of [plain, `${secure} --cacert=${files}/server-ca.crt`])
            await kubectl.refused(`${etcdctl} ${entry} --command-timeout=1s get a`);
        });
      await step('auth is enabled', async () => {
        await enableAuth(kubectl, pod, isCertified ? certified : '');
      });
      const most = api === improbable ? 4 : 5;
      await step(`scaled from 3 to ${most} and back`, async () => {
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
      await step(`upgraded to ${to}`, async () => {
        await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"version":"${to}"}}'`);
        await waitFor(kubectl, db.resource, inSeconds(120, field(`.status.${api.status.version}`, to)));
        await db.settled(3);
      });
    });
    if (to === '3.4.31')
      await step(
        'an upgrade to 3.5 is refused while auth is enabled, the message has the fix, and no pod is changed',
        async () => {
          await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"version":"3.5.35"}}'`);
          expect(await degradedWith(db, 'etcdctl auth disable')).toMatchObject({ reason: 'UpgradeRefused' });
          const images = await fieldOf(kubectl, `pods -l ${db.label}`, '.spec.containers[0].image');
          expect(images).not.toContain('v3.5');
          await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"version":"${to}"}}'`);
          await db.settled(3);
        },
      );
    await step('a wrong password and a missing Secret are reported by name', async () => {
      await createSecret(kubectl, rootUserSecret.name, { username: 'root', password: 'guess' });
      // A change of the spec makes the operator read Secrets at once; tls-secrets.e2e.ts waits for the periodic read.
      await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"replaceMemberAfterSeconds":299}}'`);
      const message = 'Secret root-user: etcd refuses this username and password';
      expect(await degradedWith(db, message)).toMatchObject({ reason: 'InvalidSecret' });
      await kubectl('delete secret root-user');
      await degradedWith(db, 'Secret root-user does not exist: create it with username and password');
      expect(await db.podNames()).toHaveLength(3);
    });
    if (!isCertified)
      // with a client certificate, etcd takes its common name for the user, and allows reads
      await step('a missing user is reported with the name of the field', async () => {
        await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"auth":null}}'`);
        await degradedWith(db, 'set spec.auth.operatorCredentials');
        await kubectl(`patch ${db.resource} --type=merge -p '${JSON.stringify({ spec: asRoot })}'`);
      });
    await step('the correct password is used at once', async () => {
      await createSecret(kubectl, rootUserSecret.name, rootUserSecret.content);
      await db.settled(3);
      expect(await conditionOf(db, 'Degraded')).toMatchObject({ status: 'False' });
    });
  });
}
