import { describe, expect, it } from 'vitest';
import { carried, certified, comesBack, keptIn, made, replaced, replacedByName } from './restore-tales.ts';
import type { SimulatedObjects } from './simulated-objects.ts';
import { SimulatedRestore, type Tale } from './simulated-restore.ts';

const tales: readonly (readonly [string, Tale, readonly [seed: string, ...old: string[]]])[] = [
  ['takes the place of a cluster', replaced, ['db-seed', 'old-1', 'old-2', 'old-3']],
  ['makes a cluster', made, ['db-0']],
  ['takes the place of a cluster of numbered members', replacedByName, ['db-2', 'db-0', 'db-1', 'db-3']],
  ['makes a cluster with certificates of our own', certified, ['db-0']],
  ['makes a cluster as it was', comesBack, ['db-0']],
  ["makes a cluster with the operator's credentials", carried, ['db-0']],
];

/** All that matters of what is there at the end. */
function endOf({ objects, restore }: SimulatedRestore) {
  const [cluster] = objects.all('etcdclusters');
  const namesOf = (plural: string): readonly string[] => objects.all(plural).map(({ metadata: { name } }) => name);
  const { clusterId, bootstrap } = (cluster?.status ?? {}) as Record<string, unknown>;
  return {
    restore: { status: restore.status, finalizers: restore.metadata.finalizers },
    cluster: { clusterId, bootstrap, annotations: Object.keys(cluster?.metadata.annotations ?? {}) },
    claims: namesOf('persistentvolumeclaims').filter((name) => !keptIn(objects).includes(name)),
    kept: keptIn(objects),
    pods: namesOf('pods').filter((name) => !name.includes('-look-')),
    couriers: namesOf('secrets').length,
    labels: objects.find('pods', namesOf('pods').at(-1) ?? '')?.metadata.labels,
  };
}

describe.each(tales)('a restore that %s', (_title, tale, [seed, ...old]) => {
  it('comes to its end', async () => {
    const life = new SimulatedRestore(tale);
    await life.run();
    expect(life.violations).toEqual([]);
    expect(life.objects.unguarded).toEqual([]);
    expect(endOf(life)).toMatchObject({
      restore: { status: { clusterId: 'bbb', seedMember: seed, backup: { sizeBytes: 1 } }, finalizers: [] },
      cluster: { clusterId: 'bbb', bootstrap: { members: [seed] } },
      ...{ claims: [seed], pods: [seed], kept: old },
    });
  });

  it('comes to the same end, wherever the operator is killed', async () => {
    const untroubled = new SimulatedRestore(tale);
    const moments = await untroubled.runAndRemember();
    expect(untroubled.objects.writes).toBeGreaterThan(10);
    expect(moments.length).toBeGreaterThan(untroubled.objects.writes);
    for (const { title, life } of moments) {
      await life.goOn();
      expect(life.violations, title).toEqual([]);
      expect(endOf(life), title).toEqual(endOf(untroubled));
    }
  });
});

it("a volume that took the name of the seed before the hand-over is not made the cluster's", async () => {
  let isExchanged = false;
  const mishap = (objects: SimulatedObjects): void => {
    const held = objects.all('etcdclusters')[0]?.status as { readonly heldBy?: string } | undefined;
    if (held?.heldBy === undefined || isExchanged) return;
    isExchanged = true;
    objects.put('persistentvolumeclaims', { metadata: { name: 'db-seed', namespace: 'n', uid: 'foreign' } });
  };
  const life = new SimulatedRestore({ ...replaced, mishap });
  await expect(life.run()).rejects.toThrow(/does not end/);
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
    made,
    { ...(made.restore['spec'] as object), source: { objectURL: 'file://victim-0/member/snap/db' } },
  ],
] as const)('a restore of the %s API from the volume of a member of another cluster', (_api, tale, spec) => {
  it('is refused, with the name of the claim, and no pod mounts that volume', async () => {
    const ownerReferences = [
      { apiVersion: `${tale.clusters.group}/v1`, kind: 'EtcdCluster', name: 'victim', uid: 'v' },
    ];
    const victim = { metadata: { name: 'victim-0', namespace: 'n', uid: 'w', ownerReferences } };
    const { persistentvolumeclaims = [] } = tale.objects;
    const objects = { ...tale.objects, persistentvolumeclaims: [...persistentvolumeclaims, victim] };
    const life = new SimulatedRestore({ ...tale, objects, restore: { ...tale.restore, spec } });
    life.objects.collects = false;
    await expect(life.run()).rejects.toThrow(/"victim-0\\" belongs to EtcdCluster \\"victim\\"/);
    expect(JSON.stringify(life.objects.all('pods'))).not.toContain('victim-0');
    expect(life.objects.find('persistentvolumeclaims', 'victim-0')?.metadata).toMatchObject(victim.metadata);
  });
});

describe('a restore that makes a cluster as it was', () => {
  const metadata = { name: 'r', namespace: 'n', uid: 'u' };

  it('gives it the spec that it had, under the name that is asked for, and lets it run', async () => {
    const clusterTemplate = { clusterName: 'copy', fromBackup: true };
    const spec = { source: { objectURL: 'file://backups/db' }, clusterTemplate };
    const life = new SimulatedRestore({ ...comesBack, restore: { metadata, spec } });
    await life.run();
    const [cluster] = life.objects.all('etcdclusters');
    expect(cluster).toMatchObject({ metadata: { name: 'copy' }, spec: { replicas: 3, version: '3.6.16' } });
    expect(cluster?.spec).not.toHaveProperty('paused');
    expect(life.restore.status).toMatchObject({ phase: 'Completed', seedMember: 'copy-0' });
  });

  it.each([
    ['says nothing of it', undefined, 'nothing beside the backup says what its cluster was'],
    [
      'is of another API',
      { apiVersion: 'etcd.database.coreos.com/v1beta2', spec: { size: 3 } },
      'of etcd.database.coreos.com/v1beta2, and this restore is of etcd.improbable.io/v1alpha1: create an EtcdRestore',
    ],
  ])('makes nothing of a backup that %s', async (_title, saved, says) => {
    const { saved: _, ...unsaid } = comesBack;
    const life = new SimulatedRestore(saved === undefined ? unsaid : { ...unsaid, saved });
    await life.run();
    expect(life.restore.status).toMatchObject({ phase: 'Failed', reason: expect.stringContaining(says) });
    expect(life.objects.all('etcdclusters')).toEqual([]);
  });

  it('lets one that is there keep its spec, where it may take its place', async () => {
    const { spec } = replacedByName.restore as { readonly spec: object };
    const clusterTemplate = { clusterName: 'db', fromBackup: true };
    const life = new SimulatedRestore({ ...replacedByName, restore: { metadata, spec: { ...spec, clusterTemplate } } });
    await life.run();
    expect(life.restore.status).toMatchObject({ phase: 'Completed', seedMember: 'db-2' });
    expect(JSON.stringify(life.objects.find('pods', 'db-2'))).not.toContain('--as-described');
  });
});

it("has the labels of its user's own only when it takes its place", async () => {
  const labels = { tier: 'db' };
  const objects = JSON.parse(JSON.stringify(replaced.objects).replace('"pod":{', '"pod":{"labels":{"tier":"db"},'));
  const seen: unknown[] = [];
  const mishap: Tale['mishap'] = (those) => {
    const { metadata } = those.find('pods', 'db-seed') ?? {};
    if (metadata?.labels?.['app'] === 'etcd-restore') seen.push(metadata.labels['tier']);
  };
  const life = new SimulatedRestore({ ...replaced, objects, mishap });
  await life.run();
  expect(new Set(seen)).toEqual(new Set([undefined]));
  expect(life.objects.find('pods', 'db-seed')?.metadata.labels).toMatchObject({ ...labels, app: 'etcd' });
});

describe.each(tales)('a restore that %s, of a backup that turns out to be damaged', (_title, tale) => {
  const damaged = { ...tale, damage: 'bytes were lost' };
  const atFirst = tale.objects['pods']?.length ?? 0;

  it('leaves everything as it was, wherever the operator is killed', async () => {
    const untroubled = new SimulatedRestore(damaged);
    const moments = await untroubled.runAndRemember();
    for (const { life } of moments) await life.goOn();
    for (const { title, life } of [{ title: 'not killed', life: untroubled }, ...moments]) {
      const { claims, pods, restore } = endOf(life);
      expect([claims.length, pods.length], title).toEqual([atFirst, atFirst]);
      expect(life.violations, title).toEqual([]);
      expect(restore.status).toMatchObject({ phase: 'Failed', reason: expect.stringContaining('bytes were lost') });
      expect(life.objects.all('etcdclusters')).toHaveLength(tale.objects['etcdclusters']?.length ?? 0);
    }
  });
});

it('a restore whose agent is killed has another go', async () => {
  const life = new SimulatedRestore(replaced);
  life.deaths = 2;
  await life.run();
  expect(life.violations).toEqual([]);
  expect(endOf(life)).toMatchObject({ cluster: { clusterId: 'bbb' }, pods: ['db-seed'] });
});

it("certificates that were made for the first member are the cluster's in the end, or go with it", async () => {
  const life = new SimulatedRestore(certified);
  await life.run();
  const [cluster] = life.objects.all('etcdclusters');
  const owners = life.objects
    .all('secrets')
    .flatMap((secret) => secret.metadata.ownerReferences?.map(({ uid }) => uid));
  expect(owners).toEqual([cluster?.metadata.uid, cluster?.metadata.uid]);
  const late = { ...certified, mishap: (objects: SimulatedObjects) => failSeed(objects) };
  const failed = new SimulatedRestore(late);
  await failed.run();
  expect(failed.restore.status).toMatchObject({ phase: 'Failed' });
  expect([...failed.objects.all('secrets'), ...failed.objects.all('pods')]).toHaveLength(1);
});

/** Somebody makes a cluster of that name while the first member is made. */
function failSeed(objects: SimulatedObjects): void {
  const isSecured = objects.all('secrets').length === 2;
  const stranger = {
    metadata: { name: 'db', namespace: 'n', uid: 'c' },
    spec: { replicas: 1 },
    status: { clusterId: 'a' },
  };
  if (isSecured && objects.all('etcdclusters').length === 0) objects.put('etcdclusters', stranger);
}

it('a restore that may take the place of a cluster makes one where there is none', async () => {
  const life = new SimulatedRestore({ ...replacedByName, objects: {}, grown: { readyReplicas: 1, replicas: 1 } });
  await life.run();
  expect(life.restore.status).toMatchObject({ phase: 'Completed', seedMember: 'db-0' });
});

it('a restore that is to make a cluster touches none that is there, nor what one has left', async () => {
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
    const life = new SimulatedRestore({ ...made, objects: { [plural]: [object] } });
    await life.run();
    expect(life.restore.status).toMatchObject({
      phase: 'Failed',
      reason: expect.stringContaining('nothing was touched'),
    });
    expect(life.objects.all(plural)).toHaveLength(1);
    expect(life.objects.all('pods').length + life.objects.all('persistentvolumeclaims').length).toBeLessThanOrEqual(1);
  }
});

it('a restore from a store that others can read along with says so, once', async () => {
  const from = (objectURL: string): Tale => ({
    ...made,
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
  expect(plain.told.filter((reason) => reason === 'PlainHttp')).toHaveLength(1);
  const safe = new SimulatedRestore(from('s3://b/k?endpoint=https://minio:9000'));
  await safe.run();
  expect(safe.told).not.toContain('PlainHttp');
});
