import { expect } from 'vitest';
import { expectAdopted } from '../support/adoption.ts';
import { fieldOf } from '../support/api.ts';
import type { DeclaredCluster } from '../support/cluster.ts';
import { degradedWith } from '../support/conditions.ts';
import { KilledOperator } from '../support/killed-operator.ts';
import { installFor } from '../support/operator.ts';
import { originalOfCoreos } from '../support/original-coreos.ts';
import { originalOfImprobable } from '../support/original-improbable.ts';
import { createOriginal } from '../support/originals.ts';
import { type StoryContext, story } from '../support/story.ts';
import { expectServed, served, underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { created, field, inSeconds, waitFor, watchUntil } from '../support/waits.ts';

story.onClusters('a cluster of the CoreOS operator is adopted while it serves', async (context) => {
  const { kubectl, step } = context;
  const db = await step('three members serve without an operator', () =>
    createOriginal(originalOfCoreos, { name: 'db', size: 3, version: '3.2.13' }, context),
  );
  const stats = await underTraffic(db, async () => {
    await step('our operator adopts the cluster, and no pod restarts', () =>
      expectAdopted(db, kubectl, () => installFor(originalOfCoreos.api, context)),
    );
    await step('an upgrade keeps members and pods', async () => {
      const ids = await db.ids();
      await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"version":"3.3.12"}}'`);
      await waitFor(kubectl, db.resource, inSeconds(120, field('.status.currentVersion', '3.3.12')));
      await db.settled(3);
      expect(await db.ids()).toEqual(ids);
      expect([...(await db.podNames())].toSorted()).toEqual(
        originalOfCoreos.memberNames({ name: 'db', size: 3, version: '' }),
      );
    });
    await step('a deleted pod is replaced', async () => {
      const [victim = ''] = await db.podNames();
      await kubectl(`delete pod ${victim}`);
      await db.replaced(victim, 3);
    });
    await step('scaled from 3 to 4', async () => {
      await kubectl(`scale ${db.resource} --replicas=4`);
      await db.settled(4);
    });
  });
  await step(`no write was lost: ${served(stats)}`, async () => {
    expectServed(stats);
  });
});

const podOf = (peer: string): string => `pod -l etcd.improbable.io/peer-name=${peer}`;
const userOf = '.spec.securityContext.runAsUser';

/** Adopts the cluster with an operator that is killed at each release or adoption of a pod, and restarted. */
async function adoptWithKilledOperator(db: DeclaredCluster, context: StoryContext): Promise<void> {
  const steps = new Set(['release-member-pod', 'adopt-member-pod']);
  const operator = new KilledOperator(context, (kind) => steps.has(kind));
  try {
    await waitFor(context.kubectl, db.resource, inSeconds(120, field('.status.clusterId')));
  } finally {
    await operator.end();
  }
  expect([...operator.kinds]).toEqual(expect.arrayContaining([...steps]));
}

story.onOurCluster(
  'a cluster of the improbable operator is adopted while it serves, although our operator is killed',
  async (context) => {
    const { kubectl, step } = context;
    const db = await step('three members serve without an operator', () =>
      createOriginal(originalOfImprobable, { name: 'db', size: 3, version: '3.3.12' }, context),
    );
    const before = await db.ids();
    const stats = await underTraffic(db, async () => {
      await step('our operator is killed during the adoption, completes it, and no pod restarts', async () => {
        await expectAdopted(db, kubectl, async () => {
          await adoptWithKilledOperator(db, context);
          await installFor(originalOfImprobable.api, context);
        });
        const what = 'no ReplicaSet is left';
        const answer = (sets: readonly object[]): true | undefined => sets.length === 0 || undefined;
        await watchUntil(kubectl, 'replicasets -l app.kubernetes.io/name=etcd', { what, answer });
      });
      await step('a deleted pod returns with the name of its EtcdPeer and the UID that owns its files', async () => {
        await kubectl(`delete ${podOf('db-1')}`);
        await waitFor(kubectl, 'pod/db-1', created);
        await db.settled(3);
        expect(await fieldOf(kubectl, podOf('db-1'), userOf)).toBe('0');
      });
      await step('a new version and pod template are rolled out, and peer URLs get full names', async () => {
        const spec = { version: '3.4.31', podTemplate: { etcdEnv: [{ name: 'ETCD_MAX_TXN_OPS', value: '256' }] } };
        await kubectl(`patch ${db.resource} --type=merge -p '${JSON.stringify({ spec })}'`);
        await waitFor(kubectl, db.resource, inSeconds(120, field('.status.serverVersion', '3.4.31')));
        await until(
          'the pods have the names of their EtcdPeers',
          async () => (await db.podNames()).join() === 'db-0,db-1,db-2' || undefined,
        );
        await db.settled(3);
        const urls = (await db.members()).flatMap(({ peerURLs }) => peerURLs);
        expect(urls.toSorted()).toEqual(
          ['db-0', 'db-1', 'db-2'].map((name) => `http://${name}.db.${context.namespace}.svc:2380`),
        );
        expect(await db.ids()).toEqual(before);
      });
      await step('a member added by a scale-up runs with our default UID', async () => {
        await kubectl(`scale ${db.resource} --replicas=4`);
        await db.settled(4);
        expect(await fieldOf(kubectl, podOf('db-3'), userOf)).toBe('65532');
      });
    });
    await step(`no write was lost: ${served(stats)}`, async () => {
      expectServed(stats);
    });
  },
);

story('an unreachable cluster of the CoreOS operator is reported and not changed', async (context) => {
  const { kubectl, step } = context;
  const silent = { name: 'db', size: 3, version: '3.5.35', silent: true };
  const members = [...originalOfCoreos.memberNames(silent)];
  const db = await createOriginal(originalOfCoreos, silent, context);
  await installFor(originalOfCoreos.api, context);
  const existing = async (kinds: string): Promise<string> => kubectl(`get ${kinds} -l ${db.label} -o name`);
  await step('the operator waits while the pods run', async () => {
    await kubectl(
      `wait ${db.resource} --for='jsonpath={.status.conditions[?(@.type=="Degraded")].reason}=NoContact' --timeout=60s`,
    );
    expect(await db.status()).toMatchObject({ phase: 'Running', size: 3 });
    expect(await existing('poddisruptionbudgets')).toBe('');
    const templateHashes = `jsonpath={.items[*].metadata.annotations.etcd\\.database\\.coreos\\.com/template-hash}`;
    expect(await kubectl(`get pods -l ${db.label} -o ${templateHashes}`)).toBe('');
  });
  await step('after the pods are deleted, no empty cluster is created', async () => {
    await kubectl(`delete pods -l ${db.label} --grace-period=1`);
    await degradedWith(db, '3 of 3 members have lost their data');
    const { phase, memberStatus = [] } = (await db.status()) as {
      phase: string;
      memberStatus?: readonly { name: string }[];
    };
    expect(phase).toBe('Failed');
    expect(memberStatus.map(({ name }) => name).toSorted()).toEqual(members);
    expect(await existing('pods')).toBe('');
  });
});
