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
/** Other names of the images that members come from where nobody says anything: any cluster can pull them. */
const [ofTheFlag, ofTheSpec] = ['quay.io:443/coreos/etcd', 'Quay.io/coreos/etcd'] as const;

const spread = {
  topologyKey: 'kubernetes.io/hostname',
  maxSkew: 1,
  whenUnsatisfiable: 'ScheduleAnyway',
  labelSelector: { matchLabels: { [improbable.label]: 'db' } },
};
/** What is said in a pod in the same words. */
const passed = {
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
  repository: ofTheSpec,
  quotaBackendBytes: 104_857_600,
  autoCompaction: { mode: 'revision', retention: '1000' },
  podTemplate: {
    ...passed,
    tolerations: [dedicated],
    etcdEnv: [{ name: 'ETCD_MAX_TXN_OPS', value: '256' }],
  },
};
/** Some of it is taken back, some is said otherwise, and the rest stays. */
const less = {
  repository: null,
  quotaBackendBytes: null,
  autoCompaction: { mode: 'periodic', retention: '1h' },
  podTemplate: {
    ...{ nodeSelector: null, priorityClassName: null, serviceAccountName: null, tolerations: null, etcdEnv: null },
    securityContext: { supplementalGroups: null },
  },
};

type PodSpec = NonNullable<Pod['spec']> & Readonly<Record<string, unknown>>;

/** Changes the spec, and waits until the pods of all three are like that and all is settled. */
async function changed(kubectl: Kubectl, db: DeclaredCluster, { spec, shows }: Change): Promise<void> {
  await kubectl(`patch ${db.resource} --type=merge -p '${JSON.stringify({ spec })}'`);
  await until('all pods show it', () => allAre(kubectl, db, shows), { seconds: 120 });
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

/** What etcd itself says, asked by its own client in the pod of each. */
async function eachSays(kubectl: Kubectl, db: DeclaredCluster, { quota, compaction }: Settings): Promise<void> {
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

/** More changes at once than etcd takes where nobody says how many. */
const manyPuts = `\n${Array.from({ length: 200 }, (_, i) => `put many/${i} x`).join('\n')}\n\n\n`;

story.asOnTheLab('every field of the talk’s API reaches numbered members in one edit, and goes again', async (told) => {
  const { kubectl, step } = told;
  const db = declaredIn(improbable)(kubectl);
  const transaction = 'exec -i db-0 -c etcd -- etcdctl txn';
  await installFor(improbable, told, { flags: [`--etcd-repository=${ofTheFlag}`] });
  await step('members come from where the operator was told to take them from', async () => {
    await db.apply({ size: 3, version });
    await db.settled(3);
    await allAre(kubectl, db, (pod) => expect(imageIn(pod)).toBe(`${ofTheFlag}:v${version}`));
    expect(await kubectl.refused(transaction, { input: manyPuts })).toContain('too many operations');
  });
  const before = await db.ids();
  await kubectl('create serviceaccount members');
  await underTraffic(db, async () => {
    await step('all fields in one edit', async () => {
      const shows = (pod: PodSpec): void => {
        expect(pod).toMatchObject({ ...passed, tolerations: expect.arrayContaining([dedicated]) });
        expect(imageIn(pod)).toBe(`${ofTheSpec}:v${version}`);
      };
      await changed(kubectl, db, { spec: everything, shows });
      await eachSays(kubectl, db, { quota: 104_857_600, compaction: 'revision' });
      expect(await kubectl(transaction, { input: manyPuts })).toContain('SUCCESS');
    });
    await step('some of them go again', async () => {
      const shows = (pod: PodSpec): void => {
        for (const gone of ['nodeSelector', 'priorityClassName']) expect(pod).not.toHaveProperty(gone);
        expect(pod['tolerations']).not.toContainEqual(dedicated);
        expect(pod['securityContext']).toEqual({ ...passed.securityContext, supplementalGroups: undefined });
        const { topologySpreadConstraints, imagePullSecrets } = passed;
        expect(pod).toMatchObject({ topologySpreadConstraints, imagePullSecrets, serviceAccountName: 'default' });
        expect(imageIn(pod)).toBe(`${ofTheFlag}:v${version}`);
      };
      await changed(kubectl, db, { spec: less, shows });
      await eachSays(kubectl, db, { quota: 2_147_483_648, compaction: 'periodic' });
      expect(await kubectl.refused(transaction, { input: manyPuts })).toContain('too many operations');
    });
  });
  expect(await db.ids()).toEqual(before);
});
