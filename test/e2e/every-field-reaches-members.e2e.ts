import { expect } from 'vitest';
import { fieldOf, list, podsOf } from '../support/api.ts';
import { type DeclaredCluster, declared } from '../support/cluster.ts';
import { installOperator } from '../support/operator.ts';
import { textOf, valuesAt } from '../support/paths.ts';
import { type StoryContext, story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { condition, inSeconds, waitFor, watchUntil } from '../support/waits.ts';

const version = '3.6.16';

interface Change {
  readonly spec: object;
  /** The path in a pod at which the change appears, and the expected value. */
  readonly shows: string;
  readonly as: string;
}

/** Changes the spec, and waits until every pod has the change and the cluster is settled. */
async function reaches({ kubectl }: StoryContext, db: DeclaredCluster, { spec, shows, as }: Change): Promise<void> {
  await kubectl(`patch etcdcluster db --type=merge -p '${JSON.stringify({ spec })}'`);
  const isInAllPods = (pods: readonly object[]): true | undefined =>
    (pods.length === 3 && pods.every((pod) => valuesAt(pod, shows).map(textOf).join() === as)) || undefined;
  const what = `${shows} shows ${as} in all pods`;
  await watchUntil(kubectl, 'pods -l etcd_cluster=db', { what, answer: isInAllPods, seconds: 300 });
  await db.settled(3);
  expect(isInAllPods(await podsOf(kubectl, 'etcd_cluster=db')), what).toBe(true);
}

const container = '.spec.containers[0]';
const needingNewPods: readonly Change[] = [
  {
    spec: { pod: { resources: { requests: { cpu: '20m' } } } },
    shows: `${container}.resources.requests.cpu`,
    as: '20m',
  },
  {
    spec: { quotaBackendBytes: 104_857_600, pod: { etcdEnv: [{ name: 'ETCD_MAX_TXN_OPS', value: '256' }] } },
    shows: `${container}.env[?(@.name=="ETCD_MAX_TXN_OPS")].value`,
    as: '256',
  },
  {
    spec: {
      pod: {
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        tolerations: [{ key: 'dedicated', operator: 'Exists' }],
        antiAffinity: true,
        securityContext: {
          runAsUser: 65_532,
          runAsNonRoot: true,
          fsGroup: 65_532,
          seccompProfile: { type: 'RuntimeDefault' },
        },
        topologySpreadConstraints: [
          { topologyKey: 'kubernetes.io/hostname', maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' },
        ],
      },
    },
    shows: '.spec.tolerations[?(@.key=="dedicated")].operator',
    as: 'Exists',
  },
  { spec: { pod: { busyboxImage: 'busybox:1.28.0-glibc' } }, shows: '.spec.initContainers[0].name', as: 'check-dns' },
];

story.asOnTheLab('every field of the pod policy is rolled out to members with PVCs', async (context) => {
  const { kubectl, step } = context;
  const db = declared(kubectl);
  await installOperator(context);
  await db.apply({ size: 3, version, durable: true });
  await db.settled(3);
  const before = await db.ids();
  await underTraffic(db, async () => {
    for (const change of needingNewPods)
      await step(`${change.shows} = ${change.as}`, () => reaches(context, db, change));
    await step('the cluster domain changes the peer URLs', async () => {
      const spec = { pod: { ClusterDomain: '.cluster.local' } };
      await kubectl(`patch etcdcluster db --type=merge -p '${JSON.stringify({ spec })}'`);
      await waitFor(kubectl, 'etcdcluster/db', inSeconds(30, condition('Progressing')));
      await db.settled(3, 120);
      for (const { peerURLs } of await db.members()) expect(peerURLs[0]).toMatch(/\.svc\.cluster\.local:2380$/);
    });
  });
  expect(await db.ids()).toEqual(before);
});

story.asOnTheLab('a change that needs new pods loses no data of members without PVCs', async (context) => {
  const { kubectl, step } = context;
  const db = declared(kubectl);
  await installOperator(context);
  await db.apply({ size: 3, version });
  await db.settled(3);
  const before = await db.ids();
  const uids = (): Promise<string> => fieldOf(kubectl, 'pods -l etcd_cluster=db', '.metadata.uid');
  await underTraffic(db, async () => {
    await step('labels are added and removed without a restart', async () => {
      const pods = await uids();
      await reaches(context, db, { spec: { pod: { labels: { team: 'a' } } }, shows: '.metadata.labels.team', as: 'a' });
      await reaches(context, db, { spec: { pod: { labels: null } }, shows: '.metadata.labels.app', as: 'etcd' });
      await waitFor(kubectl, 'etcdcluster/db', inSeconds(30, condition('Progressing', 'False')));
      expect(await uids()).toBe(pods);
      expect(await db.ids()).toEqual(before);
    });
    await step('all three members are replaced one by one', async () => {
      const [change] = needingNewPods.slice(1);
      if (change !== undefined) await reaches(context, db, change);
      expect((await db.ids()).filter((id) => before.includes(id))).toEqual([]);
    });
    await step('all three members are replaced by members with PVCs', async () => {
      const persistentVolumeClaimSpec = {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '256Mi' } },
      };
      const shows = '.spec.volumes[?(@.name=="etcd-data")].persistentVolumeClaim.claimName';
      await kubectl(
        `patch etcdcluster db --type=merge -p '${JSON.stringify({ spec: { pod: { persistentVolumeClaimSpec } } })}'`,
      );
      await waitFor(kubectl, 'etcdcluster/db', inSeconds(30, condition('Progressing')));
      await db.settled(3, 180);
      const claims = await fieldOf(kubectl, 'pods -l etcd_cluster=db', shows);
      expect(claims.split(' ')).toHaveLength(3);
    });
  });
  await step('larger PVCs are expanded if the StorageClass allows it; otherwise members are replaced', async () => {
    const classes = await list<{ allowVolumeExpansion?: boolean }>(kubectl, 'storageclasses');
    const canGrow = classes.some(({ allowVolumeExpansion }) => allowVolumeExpansion === true);
    const storage = (size: string): string =>
      JSON.stringify({ spec: { pod: { persistentVolumeClaimSpec: { resources: { requests: { storage: size } } } } } });
    expect(await kubectl.refused(`patch etcdcluster db --type=merge -p '${storage('128Mi')}'`)).toMatch(
      /spec.pod.persistentVolumeClaimSpec.resources.requests.storage: Invalid value: .*can grow, but not shrink/,
    );
    const small = await db.ids();
    await kubectl(`patch etcdcluster db --type=merge -p '${storage('300Mi')}'`);
    await until(
      'all PVCs are larger',
      async () => {
        const sizes = await fieldOf(kubectl, 'persistentvolumeclaims -l etcd_node', '.spec.resources.requests.storage');
        return sizes === '300Mi 300Mi 300Mi' || undefined;
      },
      { seconds: 180 },
    );
    await db.settled(3);
    expect((await db.ids()).filter((id) => small.includes(id))).toHaveLength(canGrow ? 3 : 0);
  });
});
