import { expect } from 'vitest';
import { shown } from '../support/api.ts';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { type DeclaredCluster, declared, declaredIn } from '../support/cluster.ts';
import { toldOf } from '../support/conditions.ts';
import { eventsSay } from '../support/events.ts';
import { installFor, installOperator } from '../support/operator.ts';
import { type Story, story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { condition, field, inSeconds, waitFor } from '../support/waits.ts';

type Told = Pick<Story, 'kubectl'> & { readonly api?: Api };

/** Waits until Events have told of all these upgrades. */
async function areTold({ kubectl }: Told, upgrades: readonly string[], reason = 'Member Upgraded'): Promise<void> {
  await eventsSay(kubectl, { reason }, upgrades);
}

/** Asks for another version as the book does, and waits until every member runs it. */
async function upgrade(told: Told, db: DeclaredCluster, version: string): Promise<void> {
  await told.kubectl(
    `patch ${db.resource} --type=json --patch '[{"op":"replace","path":"/spec/version","value":"${version}"}]'`,
  );
  await arrived(told, db, version);
}

async function arrived({ kubectl, api = coreos }: Told, db: DeclaredCluster, version: string): Promise<void> {
  await waitFor(kubectl, db.resource, inSeconds(240, field(`.status.${api.status.version}`, version)));
  await waitFor(kubectl, db.resource, condition('Progressing', 'False'));
  await until(`everybody runs ${version}`, async () => {
    const running = await db.withMembers((members) => Promise.all(members.map((member) => member.status())));
    return running.every((status) => status.version === version) || undefined;
  });
}

story.inFull('one cluster without disks lives from 3.1 to 3.7 with its data', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await db.apply({ size: 3, version: '3.1.10' });
  await db.settled(3);
  const members = await db.ids();
  await underTraffic(
    db,
    async () => {
      for (const version of ['3.2.13', '3.3.12', '3.4.31', '3.5.21', '3.5.35', '3.6.16', '3.7.3'])
        await step(`to ${version}`, () => upgrade(told, db, version));
    },
    { dense: true },
  );
  await step('they are the same members, in the same pods', async () => {
    expect(await db.ids()).toEqual(members);
  });
  await step('it was told in the words of the book', () =>
    areTold(told, ['upgraded from 3.1.10 to 3.2.13 ', 'upgraded from 3.6.16 to 3.7.3 ']),
  );
});

story.asOnTheLab('a long way is walked by itself, and back as far as etcd can', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await db.apply({ size: 3, version: '3.4.31', durable: true });
  await db.settled(3);
  const members = await db.ids();
  await underTraffic(db, async () => {
    await step('from 3.4 to 3.7 in one edit that asks for other pods too, with the way shown', async () => {
      const pod = { etcdEnv: [{ name: 'ETCD_MAX_TXN_OPS', value: '256' }] };
      const spec = { version: '3.7.3', pod };
      await kubectl(`patch etcdcluster db --type=merge -p '${JSON.stringify({ spec })}'`);
      await waitFor(kubectl, 'etcdcluster/db', inSeconds(30, field('.status.upgradePath[0]', '3.5.35')));
      expect((await db.status())['upgradePath']).toEqual(['3.5.35', '3.6.16', '3.7.3']);
      await arrived(told, db, '3.7.3');
    });
    await step('back to 3.5 by way of 3.6, by etcd’s own leave', async () => {
      await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"3.5.35"}}'`);
      await waitFor(kubectl, 'etcdcluster/db', inSeconds(30, field('.status.upgradePath[0]', '3.6.16')));
      await arrived(told, db, '3.5.35');
    });
  });
  await step('they are the same members, and every one went by way of 3.6', async () => {
    expect(await db.ids()).toEqual(members);
    for (const name of await db.podNames())
      await areTold(
        told,
        [`Member ${name} downgraded from 3.7.3 to 3.6.16`, `Member ${name} downgraded from 3.6.16 to 3.5.35`],
        'Member Downgraded',
      );
  });
  await step('3.4 is refused, with what to do instead', async () => {
    await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"3.4.31"}}'`);
    await waitFor(kubectl, 'etcdcluster/db', inSeconds(30, condition('Degraded')));
    const [message] = (
      await shown(kubectl, 'etcdcluster/db', '.status.conditions[?(@.type=="Degraded")].message')
    ).split('\n');
    expect(message).toMatch(/cannot go back to 3\.4\.31.*restore a backup/);
  });
  await step('what runs is right again when the spec says so', async () => {
    await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"3.5.35"}}'`);
    await waitFor(kubectl, 'etcdcluster/db', inSeconds(30, condition('Degraded', 'False')));
  });
});

story.asOnTheLab('an upgrade that fails stops at its first member, and going back recovers', async (told) => {
  const { kubectl, step } = told;
  const db = declared(kubectl);
  await installOperator(told);
  await db.apply({ size: 3, version: '3.5.35', extra: { replaceMemberAfterSeconds: 10 } });
  await db.settled(3);
  const members = await db.ids();
  await underTraffic(db, async () => {
    await step('a version that nobody has', async () => {
      await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"3.5.3535"}}'`);
      await waitFor(kubectl, 'etcdcluster/db', condition('Degraded'));
      const images = await shown(kubectl, 'pods -l etcd_cluster=db', '.spec.containers[0].image');
      expect(images.split(' ').filter((image) => image.endsWith(':v3.5.3535'))).toHaveLength(1);
      await until('longer than a member is waited for', async () => {
        const since = await shown(
          kubectl,
          'etcdcluster/db',
          '.status.conditions[?(@.type=="Degraded")].lastTransitionTime',
        );
        return Date.now() - Date.parse(since) > 15_000 || undefined;
      });
      expect(await db.ids()).toEqual(members);
    });
    await step('back', () => upgrade(told, db, '3.5.35'));
    await step('and on to one that there is, while a member is down and the size changes', async () => {
      await kubectl(`delete pod ${(await db.podNames())[0]} --wait=false`);
      await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"3.6.16","size":4}}'`);
      await arrived(told, db, '3.6.16');
      await db.settled(4);
    });
  });
});

story.asOnTheLab(
  'numbered members stop at an image that nobody has, go back, and then walk a long way by themselves',
  async (told) => {
    const { kubectl, step } = told;
    const db = declaredIn(improbable)(kubectl);
    const ofThisApi = { kubectl, api: improbable };
    const wish = (version: string): Promise<string> =>
      kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"version":"${version}"}}'`);
    await installFor(improbable, told);
    await db.apply({ size: 3, version: '3.5.35' });
    await db.settled(3);
    const members = await db.ids();
    const { longestPause } = await underTraffic(db, async () => {
      await step('a minor of which there is no image stops at the first member', async () => {
        await wish('3.6.1616');
        await toldOf(db, 'cannot start', 60);
        const images = await shown(kubectl, `pods -l ${db.label}`, '.spec.containers[0].image');
        expect(images.split(' ').filter((image) => image.endsWith(':v3.6.1616'))).toHaveLength(1);
        expect(await db.status()).toMatchObject({ clusterVersion: '3.5.0', upgradePath: ['3.6.1616'] });
      });
      await step('back', async () => {
        await upgrade(ofThisApi, db, '3.5.35');
        await db.settled(3);
        expect((await db.status())['upgradePath']).toBeUndefined();
      });
      await step('from 3.5 to 3.7 in one edit, with the way shown', async () => {
        await wish('3.7.3');
        await waitFor(kubectl, db.resource, inSeconds(30, field('.status.upgradePath[0]', '3.6.16')));
        expect((await db.status())['upgradePath']).toEqual(['3.6.16', '3.7.3']);
        await arrived(ofThisApi, db, '3.7.3');
      });
    });
    await step(`they are the same members; writes paused for ${longestPause.toFixed(0)} ms at most`, async () => {
      expect(await db.ids()).toEqual(members);
      for (const name of await db.podNames())
        await waitFor(kubectl, `etcdpeers.etcd.improbable.io/${name}`, field('.status.serverVersion', '3.7.3'));
      expect(await db.status()).toMatchObject({ clusterVersion: '3.7.0', serverVersion: '3.7.3' });
    });
  },
);
