import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import { type Api, coreos, improbable } from '../support/apis.ts';
import { type DeclaredCluster, declared, declaredIn } from '../support/cluster.ts';
import { degradedWith } from '../support/conditions.ts';
import { eventsContain } from '../support/events.ts';
import { installFor, installOperator } from '../support/operator.ts';
import { type StoryContext, story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { condition, field, inSeconds, waitFor } from '../support/waits.ts';

type ApiContext = Pick<StoryContext, 'kubectl'> & { readonly api?: Api };

/** Waits until Events report all these upgrades. */
async function upgradesReported(
  { kubectl }: ApiContext,
  upgrades: readonly string[],
  reason = 'Member Upgraded',
): Promise<void> {
  await eventsContain(kubectl, { reason }, upgrades);
}

/** Patches the version as in the book, and waits until every member runs it. */
async function upgrade(context: ApiContext, db: DeclaredCluster, version: string): Promise<void> {
  await context.kubectl(
    `patch ${db.resource} --type=json --patch '[{"op":"replace","path":"/spec/version","value":"${version}"}]'`,
  );
  await upgradedTo(context, db, version);
}

async function upgradedTo({ kubectl, api = coreos }: ApiContext, db: DeclaredCluster, version: string): Promise<void> {
  await waitFor(kubectl, db.resource, inSeconds(240, field(`.status.${api.status.version}`, version)));
  await waitFor(kubectl, db.resource, condition('Progressing', 'False'));
  await until(`all members run ${version}`, async () => {
    const running = await db.withMembers((members) => Promise.all(members.map((member) => member.status())));
    return running.every((status) => status.version === version) || undefined;
  });
}

story.inFull('a cluster without PVCs is upgraded from 3.1 to 3.7 and keeps its members and data', async (context) => {
  const { kubectl, step } = context;
  const db = declared(kubectl);
  await installOperator(context);
  await db.apply({ size: 3, version: '3.1.10' });
  await db.settled(3);
  const members = await db.ids();
  await underTraffic(
    db,
    async () => {
      for (const version of ['3.2.13', '3.3.12', '3.4.31', '3.5.21', '3.5.35', '3.6.16', '3.7.3'])
        await step(`upgraded to ${version}`, () => upgrade(context, db, version));
    },
    { dense: true },
  );
  await step('the member IDs are unchanged', async () => {
    expect(await db.ids()).toEqual(members);
  });
  await step('Events have the texts that the book shows', () =>
    upgradesReported(context, ['upgraded from 3.1.10 to 3.2.13 ', 'upgraded from 3.6.16 to 3.7.3 ']),
  );
});

story.asOnTheLab(
  'an upgrade over several minor versions takes each of them, and a downgrade goes back to 3.5',
  async (context) => {
    const { kubectl, step } = context;
    const db = declared(kubectl);
    await installOperator(context);
    await db.apply({ size: 3, version: '3.4.31', durable: true });
    await db.settled(3);
    const members = await db.ids();
    await underTraffic(db, async () => {
      await step(
        'one edit upgrades from 3.4 to 3.7 and changes the pods; the status has the upgrade path',
        async () => {
          const pod = { etcdEnv: [{ name: 'ETCD_MAX_TXN_OPS', value: '256' }] };
          const spec = { version: '3.7.3', pod };
          await kubectl(`patch etcdcluster db --type=merge -p '${JSON.stringify({ spec })}'`);
          await waitFor(kubectl, 'etcdcluster/db', inSeconds(30, field('.status.upgradePath[0]', '3.5.35')));
          expect((await db.status())['upgradePath']).toEqual(['3.5.35', '3.6.16', '3.7.3']);
          await upgradedTo(context, db, '3.7.3');
        },
      );
      await step('a downgrade to 3.5 goes by way of 3.6 and uses the downgrade API of etcd', async () => {
        await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"3.5.35"}}'`);
        await waitFor(kubectl, 'etcdcluster/db', inSeconds(30, field('.status.upgradePath[0]', '3.6.16')));
        await upgradedTo(context, db, '3.5.35');
      });
    });
    await step('the member IDs are unchanged, and Events report 3.6 for each member', async () => {
      expect(await db.ids()).toEqual(members);
      for (const name of await db.podNames())
        await upgradesReported(
          context,
          [`Member ${name} downgraded from 3.7.3 to 3.6.16`, `Member ${name} downgraded from 3.6.16 to 3.5.35`],
          'Member Downgraded',
        );
    });
    await step('a downgrade to 3.4 is refused, and the message has an alternative', async () => {
      await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"3.4.31"}}'`);
      await waitFor(kubectl, 'etcdcluster/db', inSeconds(30, condition('Degraded')));
      const [message] = (
        await fieldOf(kubectl, 'etcdcluster/db', '.status.conditions[?(@.type=="Degraded")].message')
      ).split('\n');
      expect(message).toMatch(/downgrade from etcd 3\.5 to 3\.4\.31 is impossible.*restore a backup/);
    });
    await step('with the running version in the spec, the cluster is healthy', async () => {
      await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"3.5.35"}}'`);
      await waitFor(kubectl, 'etcdcluster/db', inSeconds(30, condition('Degraded', 'False')));
    });
  },
);

story.asOnTheLab(
  'an upgrade to a missing version stops at the first member, and the old version recovers it',
  async (context) => {
    const { kubectl, step } = context;
    const db = declared(kubectl);
    await installOperator(context);
    await db.apply({ size: 3, version: '3.5.35', extra: { replaceMemberAfterSeconds: 10 } });
    await db.settled(3);
    const members = await db.ids();
    await underTraffic(db, async () => {
      await step('an upgrade to a missing version stops', async () => {
        await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"3.5.3535"}}'`);
        await waitFor(kubectl, 'etcdcluster/db', condition('Degraded'));
        const images = await fieldOf(kubectl, 'pods -l etcd_cluster=db', '.spec.containers[0].image');
        expect(images.split(' ').filter((image) => image.endsWith(':v3.5.3535'))).toHaveLength(1);
        await until('Degraded for longer than replaceMemberAfterSeconds', async () => {
          const since = await fieldOf(
            kubectl,
            'etcdcluster/db',
            '.status.conditions[?(@.type=="Degraded")].lastTransitionTime',
          );
          return Date.now() - Date.parse(since) > 15_000 || undefined;
        });
        expect(await db.ids()).toEqual(members);
      });
      await step('the version is set back', () => upgrade(context, db, '3.5.35'));
      await step('an upgrade completes while a member is down and the size changes', async () => {
        await kubectl(`delete pod ${(await db.podNames())[0]} --wait=false`);
        await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"3.6.16","size":4}}'`);
        await upgradedTo(context, db, '3.6.16');
        await db.settled(4);
      });
    });
  },
);

story.asOnTheLab(
  'numbered members stop at a missing image, go back, and are upgraded over several minor versions',
  async (context) => {
    const { kubectl, step } = context;
    const db = declaredIn(improbable)(kubectl);
    const improbableContext = { kubectl, api: improbable };
    const setVersion = (version: string): Promise<string> =>
      kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"version":"${version}"}}'`);
    await installFor(improbable, context);
    await db.apply({ size: 3, version: '3.5.35' });
    await db.settled(3);
    const members = await db.ids();
    const { longestPause } = await underTraffic(db, async () => {
      await step('an upgrade to a missing image stops at the first member', async () => {
        await setVersion('3.6.1616');
        await degradedWith(db, 'cannot start', 60);
        const images = await fieldOf(kubectl, `pods -l ${db.label}`, '.spec.containers[0].image');
        expect(images.split(' ').filter((image) => image.endsWith(':v3.6.1616'))).toHaveLength(1);
        expect(await db.status()).toMatchObject({ clusterVersion: '3.5.0', upgradePath: ['3.6.1616'] });
      });
      await step('the version is set back', async () => {
        await upgrade(improbableContext, db, '3.5.35');
        await db.settled(3);
        expect((await db.status())['upgradePath']).toBeUndefined();
      });
      await step('one edit upgrades from 3.5 to 3.7, and the status has the upgrade path', async () => {
        await setVersion('3.7.3');
        await waitFor(kubectl, db.resource, inSeconds(30, field('.status.upgradePath[0]', '3.6.16')));
        expect((await db.status())['upgradePath']).toEqual(['3.6.16', '3.7.3']);
        await upgradedTo(improbableContext, db, '3.7.3');
      });
    });
    await step(`the member IDs are unchanged; writes paused for ${longestPause.toFixed(0)} ms at most`, async () => {
      expect(await db.ids()).toEqual(members);
      for (const name of await db.podNames())
        await waitFor(kubectl, `etcdpeers.etcd.improbable.io/${name}`, field('.status.serverVersion', '3.7.3'));
      expect(await db.status()).toMatchObject({ clusterVersion: '3.7.0', serverVersion: '3.7.3' });
    });
  },
);
