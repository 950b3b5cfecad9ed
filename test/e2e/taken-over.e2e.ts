import { expect } from 'vitest';
import { shown } from '../support/api.ts';
import type { DeclaredCluster } from '../support/cluster.ts';
import { toldOf } from '../support/conditions.ts';
import { Mortal } from '../support/mortal.ts';
import { installFor } from '../support/operator.ts';
import { originalOfCoreos } from '../support/original-coreos.ts';
import { originalOfImprobable } from '../support/original-improbable.ts';
import { bringUp } from '../support/originals.ts';
import { type Story, story } from '../support/story.ts';
import { isTakenOver } from '../support/taken-over.ts';
import { expectServed, served, underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { created, field, inSeconds, waitFor, watchUntil } from '../support/waits.ts';

story.onClusters('a cluster that the CoreOS operator has made is taken over while it serves', async (told) => {
  const { kubectl, step } = told;
  const db = await step('three members serve without an operator', () =>
    bringUp(originalOfCoreos, { name: 'db', size: 3, version: '3.2.13' }, told),
  );
  const experience = await underTraffic(db, async () => {
    await step('ours takes it over, and nobody is stopped', () =>
      isTakenOver(db, kubectl, () => installFor(originalOfCoreos.api, told)),
    );
    await step('it is upgraded, in the pods that it has', async () => {
      const ids = await db.ids();
      await kubectl(`patch ${db.resource} --type=merge -p '{"spec":{"version":"3.3.12"}}'`);
      await waitFor(kubectl, db.resource, inSeconds(120, field('.status.currentVersion', '3.3.12')));
      await db.settled(3);
      expect(await db.ids()).toEqual(ids);
      expect([...(await db.podNames())].toSorted()).toEqual(
        originalOfCoreos.memberNames({ name: 'db', size: 3, version: '' }),
      );
    });
    await step('it heals', async () => {
      const [victim = ''] = await db.podNames();
      await kubectl(`delete pod ${victim}`);
      await db.replaced(victim, 3);
    });
    await step('it grows', async () => {
      await kubectl(`scale ${db.resource} --replicas=4`);
      await db.settled(4);
    });
  });
  await step(`nothing was lost: ${served(experience)}`, async () => {
    expectServed(experience);
  });
});

const podOf = (peer: string): string => `pod -l etcd.improbable.io/peer-name=${peer}`;
const userOf = '.spec.securityContext.runAsUser';

/** By an operator that is killed whenever it lets somebody go or takes somebody over, and begins again. */
async function takenOverByMortal(db: DeclaredCluster, told: Story): Promise<void> {
  const steps = new Set(['release-carrier', 'adopt-carrier']);
  const operator = new Mortal(told, (kind) => steps.has(kind));
  try {
    await waitFor(told.kubectl, db.resource, inSeconds(120, field('.status.clusterId')));
  } finally {
    await operator.end();
  }
  expect([...operator.kinds]).toEqual(expect.arrayContaining([...steps]));
}

story.onOurCluster('a cluster that the operator of the talk has made is taken over while it serves', async (told) => {
  const { kubectl, step } = told;
  const db = await step('three members serve without an operator', () =>
    bringUp(originalOfImprobable, { name: 'db', size: 3, version: '3.3.12' }, told),
  );
  const before = await db.ids();
  const experience = await underTraffic(db, async () => {
    await step('ours takes it over, killed in the middle of it, and nobody is stopped', async () => {
      await isTakenOver(db, kubectl, async () => {
        await takenOverByMortal(db, told);
        await installFor(originalOfImprobable.api, told);
      });
      const what = 'no ReplicaSet is left';
      const answer = (sets: readonly object[]): true | undefined => sets.length === 0 || undefined;
      await watchUntil(kubectl, 'replicasets -l app.kubernetes.io/name=etcd', { what, answer });
    });
    await step('a pod comes back under the name of its peer, as the user whose files are there', async () => {
      await kubectl(`delete ${podOf('db-1')}`);
      await waitFor(kubectl, 'pod/db-1', created);
      await db.settled(3);
      expect(await shown(kubectl, podOf('db-1'), userOf)).toBe('0');
    });
    await step('another version and another template reach it, and short names are left behind', async () => {
      const spec = { version: '3.4.31', podTemplate: { etcdEnv: [{ name: 'ETCD_MAX_TXN_OPS', value: '256' }] } };
      await kubectl(`patch ${db.resource} --type=merge -p '${JSON.stringify({ spec })}'`);
      await waitFor(kubectl, db.resource, inSeconds(120, field('.status.serverVersion', '3.4.31')));
      await until('the pods are ours', async () => (await db.podNames()).join() === 'db-0,db-1,db-2' || undefined);
      await db.settled(3);
      const urls = (await db.members()).flatMap(({ peerURLs }) => peerURLs);
      expect(urls.toSorted()).toEqual(
        ['db-0', 'db-1', 'db-2'].map((name) => `http://${name}.db.${told.namespace}.svc:2380`),
      );
      expect(await db.ids()).toEqual(before);
    });
    await step('it grows, by one that is like any other', async () => {
      await kubectl(`scale ${db.resource} --replicas=4`);
      await db.settled(4);
      expect(await shown(kubectl, podOf('db-3'), userOf)).toBe('65532');
    });
  });
  await step(`nothing was lost: ${served(experience)}`, async () => {
    expectServed(experience);
  });
});

story('a cluster that an original has made, and of which nobody answers, is told and not touched', async (told) => {
  const { kubectl, step } = told;
  const silent = { name: 'db', size: 3, version: '3.5.35', silent: true };
  const members = [...originalOfCoreos.memberNames(silent)];
  const db = await bringUp(originalOfCoreos, silent, told);
  await installFor(originalOfCoreos.api, told);
  const made = async (kinds: string): Promise<string> => kubectl(`get ${kinds} -l ${db.label} -o name`);
  await step('while its pods run, they are waited for', async () => {
    await kubectl(
      `wait ${db.resource} --for='jsonpath={.status.conditions[?(@.type=="Degraded")].reason}=NoContact' --timeout=60s`,
    );
    expect(await db.status()).toMatchObject({ phase: 'Running', size: 3 });
    expect(await made('poddisruptionbudgets')).toBe('');
    const marks = `jsonpath={.items[*].metadata.annotations.etcd\\.database\\.coreos\\.com/template}`;
    expect(await kubectl(`get pods -l ${db.label} -o ${marks}`)).toBe('');
  });
  await step('when they are gone, with their data, no empty cluster takes their place', async () => {
    await kubectl(`delete pods -l ${db.label} --grace-period=1`);
    await toldOf(db, '3 of 3 members have lost their data');
    const { phase, memberStatus = [] } = (await db.status()) as {
      phase: string;
      memberStatus?: readonly { name: string }[];
    };
    expect(phase).toBe('Failed');
    expect(memberStatus.map(({ name }) => name).toSorted()).toEqual(members);
    expect(await made('pods')).toBe('');
  });
});
