import { expect } from 'vitest';
import type { Pod } from '../../src/kube/object.ts';
import { list } from '../support/api.ts';
import { improbable } from '../support/apis.ts';
import { type DeclaredCluster, declaredIn } from '../support/cluster.ts';
import type { Kubectl } from '../support/kubectl.ts';
import { installFor } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';

const version = '3.6.16';
/** Other names of the default image repository: any cluster can pull from them. */
const [flagRepository, specRepository] = ['quay.io:443/coreos/etcd', 'Quay.io/coreos/etcd'] as const;

const spread = {
  topologyKey: 'kubernetes.io/hostname',
  maxSkew: 1,
  whenUnsatisfiable: 'ScheduleAnyway',
  labelSelector: { matchLabels: { [improbable.label]: 'db' } },
};
/** Fields with the same name in the pod spec. */
const samePodFields = {
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  topologySpreadConstraints: [spread],
  priorityClassName: 'system-cluster-critical',
  imagePullSecrets: [{ name: 'registry' }],
  serviceAccountName: 'members',
  securityContext: {
    runAsUser: 65_532,
    runAsGroup: 65_532,
    runAsNonRoot: true,
    fsGroup: 65_532,
    supplementalGroups: [4242],
    seccompProfile: { type: 'RuntimeDefault' },
  },
};
const dedicated = { key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' };
const everything = {
  repository: specRepository,
  quotaBackendBytes: 104_857_600,
  autoCompaction: { mode: 'revision', retention: '1000' },
  podTemplate: {
    ...samePodFields,
    tolerations: [dedicated],
    etcdEnv: [{ name: 'ETCD_MAX_TXN_OPS', value: '256' }],
  },
};
/** Removes some fields, changes others, and keeps the rest. */
const reduced = {
  repository: null,
  quotaBackendBytes: null,
  autoCompaction: { mode: 'periodic', retention: '1h' },
  podTemplate: {
    ...{ nodeSelector: null, priorityClassName: null, serviceAccountName: null, tolerations: null, etcdEnv: null },
    securityContext: { supplementalGroups: null },
  },
};

type PodSpec = NonNullable<Pod['spec']> & Readonly<Record<string, unknown>>;

/** Changes the spec, and waits until all three pods have the change and the cluster is settled. */
async function changed(kubectl: Kubectl, db: DeclaredCluster, { spec, shows }: Change): Promise<void> {
  await kubectl(`patch ${db.resource} --type=merge -p '${JSON.stringify({ spec })}'`);
  await until('all pods have the change', () => allAre(kubectl, db, shows), { seconds: 120 });
  await db.settled(3);
}

interface Change {
  readonly spec: object;
  readonly shows: (pod: PodSpec) => void;
}

async function allAre(kubectl: Kubectl, db: DeclaredCluster, shows: Change['shows']): Promise<true> {
  const items = await list<{ readonly spec: PodSpec }>(kubectl, `pods -l ${db.label}`);
  expect(items).toHaveLength(3);
  for (const { spec } of items) shows(spec);
  return true;
}

const imageIn = ({ containers }: PodSpec): unknown => containers?.[0]?.image;

/** Checks the settings that etcd reports, with etcdctl in each pod. */
async function expectSettings(kubectl: Kubectl, db: DeclaredCluster, { quota, compaction }: Settings): Promise<void> {
  for (const pod of await db.podNames()) {
    const status = await kubectl(`exec ${pod} -c etcd -- etcdctl endpoint status -w json`);
    expect(JSON.parse(status)).toMatchObject([{ Status: { version, dbSizeQuota: quota } }]);
    expect(await kubectl(`logs ${pod} -c etcd`)).toContain(`"auto-compaction-mode":"${compaction}"`);
  }
}

interface Settings {
  readonly quota: number;
  readonly compaction: string;
}

/** More operations in one transaction than etcd accepts by default. */
const manyPuts = `\n${Array.from({ length: 200 }, (_, i) => `put many/${i} x`).join('\n')}\n\n\n`;

story.asOnTheLab(
  'every field of the improbable API is rolled out in one edit, and removed fields are rolled back',
  async (context) => {
    const { kubectl, step } = context;
    const db = declaredIn(improbable)(kubectl);
    const transaction = 'exec -i db-0 -c etcd -- etcdctl txn';
    await installFor(improbable, context, { flags: [`--etcd-repository=${flagRepository}`] });
    await step('images come from the repository of the --etcd-repository flag', async () => {
      await db.apply({ size: 3, version });
      await db.settled(3);
      await allAre(kubectl, db, (pod) => expect(imageIn(pod)).toBe(`${flagRepository}:v${version}`));
      expect(await kubectl.refused(transaction, { input: manyPuts })).toContain('too many operations');
    });
    const before = await db.ids();
    await kubectl('create serviceaccount members');
    await underTraffic(db, async () => {
      await step('one edit sets all fields', async () => {
        const shows = (pod: PodSpec): void => {
          expect(pod).toMatchObject({ ...samePodFields, tolerations: expect.arrayContaining([dedicated]) });
          expect(imageIn(pod)).toBe(`${specRepository}:v${version}`);
        };
        await changed(kubectl, db, { spec: everything, shows });
        await expectSettings(kubectl, db, { quota: 104_857_600, compaction: 'revision' });
        expect(await kubectl(transaction, { input: manyPuts })).toContain('SUCCESS');
      });
      await step('another edit removes some fields', async () => {
        const shows = (pod: PodSpec): void => {
          for (const gone of ['nodeSelector', 'priorityClassName']) expect(pod).not.toHaveProperty(gone);
          expect(pod['tolerations']).not.toContainEqual(dedicated);
          expect(pod['securityContext']).toEqual({ ...samePodFields.securityContext, supplementalGroups: undefined });
          const { topologySpreadConstraints, imagePullSecrets } = samePodFields;
          expect(pod).toMatchObject({ topologySpreadConstraints, imagePullSecrets, serviceAccountName: 'default' });
          expect(imageIn(pod)).toBe(`${flagRepository}:v${version}`);
        };
        await changed(kubectl, db, { spec: reduced, shows });
        await expectSettings(kubectl, db, { quota: 2_147_483_648, compaction: 'periodic' });
        expect(await kubectl.refused(transaction, { input: manyPuts })).toContain('too many operations');
      });
    });
    expect(await db.ids()).toEqual(before);
  },
);
