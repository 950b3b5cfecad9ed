import { describe, expect, it } from 'vitest';
import {
  createdByRestore,
  keptIn,
  recreatedFromBackup,
  replaced,
  replacedOrdinal,
  viaStoreProxy,
  withManagedTls,
} from './restore-scenarios.ts';
import type { SimulatedObjects } from './simulated-objects.ts';
import { type Scenario, SimulatedRestore } from './simulated-restore.ts';

const scenarios: readonly (readonly [string, Scenario, readonly [seed: string, ...old: string[]]])[] = [
  ['replaces a cluster', replaced, ['db-seed', 'old-1', 'old-2', 'old-3']],
  ['creates a cluster', createdByRestore, ['db-0']],
  ['replaces a cluster with ordinal names', replacedOrdinal, ['db-2', 'db-0', 'db-1', 'db-3']],
  ['creates a cluster with managed certificates', withManagedTls, ['db-0']],
  ['creates a cluster from the spec in the backup', recreatedFromBackup, ['db-0']],
  ["creates a cluster with the operator's credentials", viaStoreProxy, ['db-0']],
];

/** The state at the end that tests compare. */
function endOf({ objects, restore }: SimulatedRestore) {
  const [cluster] = objects.all('etcdclusters');
  const namesOf = (plural: string): readonly string[] => objects.all(plural).map(({ metadata: { name } }) => name);
  const { clusterId, bootstrap } = (cluster?.status ?? {}) as Record<string, unknown>;
  return {
    restore: { status: restore.status, finalizers: restore.metadata.finalizers },
    cluster: { clusterId, bootstrap, annotations: Object.keys(cluster?.metadata.annotations ?? {}) },
    claims: namesOf('persistentvolumeclaims').filter((name) => !keptIn(objects).includes(name)),
    kept: keptIn(objects),
    pods: namesOf('pods').filter((name) => !name.includes('-inspect-')),
    storeProxies: namesOf('secrets').length,
    labels: objects.find('pods', namesOf('pods').at(-1) ?? '')?.metadata.labels,
  };
}

describe.each(scenarios)('a restore that %s', (_title, scenario, [seed, ...old]) => {
  it('completes without violations', async () => {
    const life = new SimulatedRestore(scenario);
    await life.run();
    expect(life.violations).toEqual([]);
    expect(life.objects.unguarded).toEqual([]);
    expect(endOf(life)).toMatchObject({
      restore: { status: { clusterId: 'bbb', seedMember: seed, backup: { sizeBytes: 1 } }, finalizers: [] },
      cluster: { clusterId: 'bbb', bootstrap: { members: [seed] } },
      ...{ claims: [seed], pods: [seed], kept: old },
    });
  });

  it('changes no object except in steps of its plan', async () => {
    const life = new SimulatedRestore(scenario);
    await life.run();
    expect(life.violations.filter((violation) => violation.startsWith('a write without a step'))).toEqual([]);
    expect(life.steps.kinds).toEqual(expect.arrayContaining(['prove', 'start-seed', 'hand-over', 'unpin']));
  });

  it('reaches the same state wherever the operator is killed', async () => {
    const undisturbed = new SimulatedRestore(scenario);
    const moments = await undisturbed.runAndRemember();
    expect(undisturbed.objects.writes).toBeGreaterThan(10);
    expect(moments.length).toBeGreaterThan(undisturbed.objects.writes);
    for (const { title, life } of moments) {
      await life.resume();
      expect(life.violations, title).toEqual([]);
      expect(endOf(life), title).toEqual(endOf(undisturbed));
    }
  });
});

it('a foreign PVC with the name of the seed is not adopted by the cluster', async () => {
  let isExchanged = false;
  const mishap = (objects: SimulatedObjects): void => {
    const held = objects.all('etcdclusters')[0]?.status as { readonly heldBy?: string } | undefined;
    if (held?.heldBy === undefined || isExchanged) return;
    isExchanged = true;
    objects.put('persistentvolumeclaims', { metadata: { name: 'db-seed', namespace: 'n', uid: 'foreign' } });
  };
  const life = new SimulatedRestore({ ...replaced, mishap });
  await expect(life.run()).rejects.toThrow(/does not finish/);
  expect(isExchanged).toBe(true);
  expect(life.objects.find('persistentvolumeclaims', 'db-seed')?.metadata).toMatchObject({ uid: 'foreign' });
  expect(life.objects.find('persistentvolumeclaims', 'db-seed')?.metadata.labels).toBeUndefined();
});

describe.each([
  [
    'coreos',
    replaced,
    { etcdCluster: { name: 'db' }, backupStorageType: 'PVC', pvc: { claimName: 'victim-0', path: 'db' } },
  ],
  [
    'improbable',
    createdByRestore,
    { ...(createdByRestore.restore['spec'] as object), source: { objectURL: 'file://victim-0/member/snap/db' } },
  ],
] as const)('a restore of the %s API from the volume of a member of another cluster', (_api, scenario, spec) => {
  it('is blocked with the name of the PVC, and no pod mounts the volume', async () => {
    const ownerReferences = [
      { apiVersion: `${scenario.clusters.group}/v1`, kind: 'EtcdCluster', name: 'victim', uid: 'v' },
    ];
    const victim = { metadata: { name: 'victim-0', namespace: 'n', uid: 'w', ownerReferences } };
    const { persistentvolumeclaims = [] } = scenario.objects;
    const objects = { ...scenario.objects, persistentvolumeclaims: [...persistentvolumeclaims, victim] };
    const life = new SimulatedRestore({ ...scenario, objects, restore: { ...scenario.restore, spec } });
    life.objects.collectsGarbage = false;
    await expect(life.run()).rejects.toThrow(/"victim-0\\" belongs to EtcdCluster \\"victim\\"/);
    expect(JSON.stringify(life.objects.all('pods'))).not.toContain('victim-0');
    expect(life.objects.find('persistentvolumeclaims', 'victim-0')?.metadata).toMatchObject(victim.metadata);
  });
});

describe('a restore with fromBackup: true', () => {
  const metadata = { name: 'r', namespace: 'n', uid: 'u' };

  it('creates a cluster with the saved spec and the requested name, and without paused', async () => {
    const clusterTemplate = { clusterName: 'copy', fromBackup: true };
    const spec = { source: { objectURL: 'file://backups/db' }, clusterTemplate };
    const life = new SimulatedRestore({ ...recreatedFromBackup, restore: { metadata, spec } });
    await life.run();
    const [cluster] = life.objects.all('etcdclusters');
    expect(cluster).toMatchObject({ metadata: { name: 'copy' }, spec: { replicas: 3, version: '3.6.16' } });
    expect(cluster?.spec).not.toHaveProperty('paused');
    expect(life.restore.status).toMatchObject({ phase: 'Completed', seedMember: 'copy-0' });
  });

  it.each([
    ['has no cluster spec', undefined, 'the manifest of the backup has no cluster spec'],
    [
      'has a cluster of another API',
      { apiVersion: 'etcd.database.coreos.com/v1beta2', spec: { size: 3 } },
      'of etcd.database.coreos.com/v1beta2, but this restore is of etcd.improbable.io/v1alpha1: create an EtcdRestore',
    ],
  ])('fails and creates no cluster if the manifest %s', async (_title, saved, message) => {
    const { saved: _, ...withoutSpec } = recreatedFromBackup;
    const life = new SimulatedRestore(saved === undefined ? withoutSpec : { ...withoutSpec, saved });
    await life.run();
    expect(life.restore.status).toMatchObject({ phase: 'Failed', reason: expect.stringContaining(message) });
    expect(life.objects.all('etcdclusters')).toEqual([]);
  });

  it('with replaceExisting keeps the spec of the existing cluster', async () => {
    const { spec } = replacedOrdinal.restore as { readonly spec: object };
    const clusterTemplate = { clusterName: 'db', fromBackup: true };
    const life = new SimulatedRestore({
      ...replacedOrdinal,
      restore: { metadata, spec: { ...spec, clusterTemplate } },
    });
    await life.run();
    expect(life.restore.status).toMatchObject({ phase: 'Completed', seedMember: 'db-2' });
    expect(JSON.stringify(life.objects.find('pods', 'db-2'))).not.toContain('--require-manifest');
  });
});

it("the seed pod gets the user's labels only when the cluster adopts it", async () => {
  const labels = { tier: 'db' };
  const objects = JSON.parse(JSON.stringify(replaced.objects).replace('"pod":{', '"pod":{"labels":{"tier":"db"},'));
  const seen: unknown[] = [];
  const mishap: Scenario['mishap'] = (those) => {
    const { metadata } = those.find('pods', 'db-seed') ?? {};
    if (metadata?.labels?.['app'] === 'etcd-restore') seen.push(metadata.labels['tier']);
  };
  const life = new SimulatedRestore({ ...replaced, objects, mishap });
  await life.run();
  expect(new Set(seen)).toEqual(new Set([undefined]));
  expect(life.objects.find('pods', 'db-seed')?.metadata.labels).toMatchObject({ ...labels, app: 'etcd' });
});

describe.each(scenarios)('a restore of a damaged backup that %s', (_title, scenario) => {
  const damaged = { ...scenario, damage: 'bytes were lost' };
  const initialPods = scenario.objects['pods']?.length ?? 0;

  it('fails and leaves existing pods and volumes unchanged, wherever the operator is killed', async () => {
    const undisturbed = new SimulatedRestore(damaged);
    const moments = await undisturbed.runAndRemember();
    for (const { life } of moments) await life.resume();
    for (const { title, life } of [{ title: 'not killed', life: undisturbed }, ...moments]) {
      const { claims, pods, restore } = endOf(life);
      expect([claims.length, pods.length], title).toEqual([initialPods, initialPods]);
      expect(life.violations, title).toEqual([]);
      expect(restore.status).toMatchObject({ phase: 'Failed', reason: expect.stringContaining('bytes were lost') });
      expect(life.objects.all('etcdclusters')).toHaveLength(scenario.objects['etcdclusters']?.length ?? 0);
    }
  });
});

it('a restore retries after its agent pod is killed', async () => {
  const life = new SimulatedRestore(replaced);
  life.kubelet.inspectionsToKill = 2;
  await life.run();
  expect(life.violations).toEqual([]);
  expect(endOf(life)).toMatchObject({ cluster: { clusterId: 'bbb' }, pods: ['db-seed'] });
});

it('certificates of the seed member belong to the cluster at the end, or are deleted with a failed restore', async () => {
  const life = new SimulatedRestore(withManagedTls);
  await life.run();
  const [cluster] = life.objects.all('etcdclusters');
  expect(life.steps.kinds).toEqual(
    expect.arrayContaining(['issue-certificates', 'stage-certificates', 'create-cluster', 'transfer-secrets']),
  );
  const owners = life.objects
    .all('secrets')
    .flatMap((secret) => secret.metadata.ownerReferences?.map(({ uid }) => uid));
  expect(owners).toEqual([cluster?.metadata.uid, cluster?.metadata.uid]);
  const late = { ...withManagedTls, mishap: (objects: SimulatedObjects) => failSeed(objects) };
  const failed = new SimulatedRestore(late);
  await failed.run();
  expect(failed.restore.status).toMatchObject({ phase: 'Failed' });
  expect([...failed.objects.all('secrets'), ...failed.objects.all('pods')]).toHaveLength(1);
});

/** Creates a cluster with the target's name while the seed member starts. */
function failSeed(objects: SimulatedObjects): void {
  const isSecured = objects.all('secrets').length === 2;
  const foreignObject = {
    metadata: { name: 'db', namespace: 'n', uid: 'c' },
    spec: { replicas: 1 },
    status: { clusterId: 'a' },
  };
  if (isSecured && objects.all('etcdclusters').length === 0) objects.put('etcdclusters', foreignObject);
}

it('a restore with replaceExisting creates the cluster if none exists', async () => {
  const life = new SimulatedRestore({ ...replacedOrdinal, objects: {}, grown: { readyReplicas: 1, replicas: 1 } });
  await life.run();
  expect(life.restore.status).toMatchObject({ phase: 'Completed', seedMember: 'db-0' });
});

it('a restore without replaceExisting fails and changes nothing if a cluster, PVC or pod has the name', async () => {
  const there = {
    metadata: { name: 'db', namespace: 'n', uid: 'c' },
    spec: { replicas: 1 },
    status: { clusterId: 'a' },
  };
  const left = { metadata: { name: 'db-1', namespace: 'n', labels: {} } };
  for (const [plural, object] of [
    ['etcdclusters', there],
    ['persistentvolumeclaims', left],
    ['pods', left],
  ] as const) {
    const life = new SimulatedRestore({ ...createdByRestore, objects: { [plural]: [object] } });
    await life.run();
    expect(life.restore.status).toMatchObject({
      phase: 'Failed',
      reason: expect.stringContaining('nothing was changed'),
    });
    expect(life.objects.all(plural)).toHaveLength(1);
    expect(life.objects.all('pods').length + life.objects.all('persistentvolumeclaims').length).toBeLessThanOrEqual(1);
  }
});

it('a restore from a store over plain http records the Event PlainHttp once', async () => {
  const from = (objectURL: string): Scenario => ({
    ...createdByRestore,
    restore: {
      metadata: { name: 'r', namespace: 'n', uid: 'u' },
      spec: {
        source: { objectURL, credentialsSecret: 'aws' },
        clusterTemplate: { clusterName: 'db', spec: { replicas: 3, version: '3.6.16' } },
      },
    },
    objects: { secrets: [{ metadata: { name: 'aws', namespace: 'n' }, data: {} }] },
  });
  const plain = new SimulatedRestore(from('s3://b/k?endpoint=http://minio:9000'));
  await plain.run();
  expect(plain.eventReasons.filter((reason) => reason === 'PlainHttp')).toHaveLength(1);
  const safe = new SimulatedRestore(from('s3://b/k?endpoint=https://minio:9000'));
  await safe.run();
  expect(safe.eventReasons).not.toContain('PlainHttp');
});
