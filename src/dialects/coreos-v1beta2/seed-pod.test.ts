import { describe, expect, it } from 'vitest';
import type { Blueprint } from '../../core/desired/manifest.ts';
import { memberPod } from '../../core/desired/pod.ts';
import { type Seeding, seedClaim, seedPod } from '../../core/desired/seed-pod.ts';
import type { CarrierName } from '../../core/model/names.ts';
import { readCluster } from './intent.ts';

function blueprintOf(version: string, pod: object = {}): Blueprint {
  const read = readCluster({ metadata: { name: 'db', namespace: 'n', uid: 'c' }, spec: { size: 3, version, pod } });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value.blueprint;
}

const name = 'db-seed' as CarrierName;
const seeding: Seeding = {
  name,
  token: 'token',
  owner: { apiVersion: 'v1', kind: 'Restore', name: 'r', uid: 'u', controller: true },
  labels: { app: 'etcd-restore' },
  annotations: { restored: 'u' },
  image: { name: 'ours' },
  words: ['--url', 's3://b/k'],
  mounts: [{ path: '/etc/agent/store', secret: 'aws' }],
};

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
}
const containersOf = (version: string, over: Partial<Seeding> = {}): readonly Container[] =>
  seedPod(blueprintOf(version), { ...seeding, ...over }).spec['initContainers'] as readonly Container[];
const toolOf = (version: string): string | undefined =>
  containersOf(version).find((container) => container.name === 'restore-datadir')?.command[0];

describe('the first member of a restored cluster', () => {
  it('is a member like any other, after the snapshot was fetched, made a data directory of, and put in its place', () => {
    const blueprint = blueprintOf('3.6.16');
    const join = { as: 'founder', of: { members: [name], token: 'token' } } as const;
    const ordinary = memberPod(blueprint, { name, join, version: '3.6.16' });
    expect(seedPod(blueprint, seeding).spec['containers']).toEqual(ordinary.spec['containers']);
    expect(containersOf('3.6.16').map((container) => [container.name, container.image])).toEqual([
      ['fetch-backup', 'ours'],
      ['restore-datadir', 'quay.io/coreos/etcd:v3.6.16'],
      ['place-datadir', 'ours'],
    ]);
  });

  it('says in every container what it needs, where members do: quotas let nobody in who does not', () => {
    const resources = { requests: { memory: '1Gi' }, limits: { memory: '1Gi' } };
    const { initContainers } = seedPod(blueprintOf('3.6.16', { resources }), seeding).spec;
    for (const container of initContainers as readonly object[])
      expect(container).toMatchObject({
        resources: { requests: { memory: expect.any(String) }, limits: { memory: expect.any(String) } },
      });
  });

  it('does not wait for a name that nobody knows before it takes its place', () => {
    const named = blueprintOf('3.6.16', { busyboxImage: 'busybox:1', DNSTimeoutInSecond: 60 });
    const { initContainers } = seedPod(named, seeding).spec;
    expect((initContainers as readonly Container[])[0]?.name).toBe('fetch-backup');
  });

  it('is not for clients, nor seen by the operator of clusters, before it takes its place', () => {
    const { labels, ownerReferences } = seedPod(blueprintOf('3.6.16', { labels: { tier: 'db' } }), seeding).metadata;
    expect(labels).toEqual({ app: 'etcd-restore' });
    expect(ownerReferences).toEqual([seeding.owner]);
  });

  it('is made by the tool that its version has', () => {
    expect(['3.1.10', '3.4.31', '3.5.35', '3.7.3'].map(toolOf)).toEqual([
      '/usr/local/bin/etcdctl',
      '/usr/local/bin/etcdctl',
      '/usr/local/bin/etcdutl',
      '/usr/local/bin/etcdutl',
    ]);
  });

  it("has etcd's tool check the hash of the file it reads, and not only that of the object that was fetched", () => {
    for (const version of ['3.1.10', '3.4.31', '3.5.35', '3.7.3'])
      expect(
        containersOf(version)
          .flatMap(({ command }) => command)
          .join(' '),
      ).not.toMatch(/skip-hash/);
  });

  it('finds a node where members must be on different nodes, and each node has one of the old members', () => {
    const { affinity } = seedPod(blueprintOf('3.6.16', { antiAffinity: true }), seeding).spec as {
      readonly affinity: { readonly podAntiAffinity: Readonly<Record<string, readonly object[]>> };
    };
    const matchLabels = { etcd_cluster: 'db' };
    const not = { key: 'etcd_cluster', operator: 'NotIn', values: ['db'] };
    expect(affinity.podAntiAffinity['requiredDuringSchedulingIgnoredDuringExecution']).toEqual([
      { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels, matchExpressions: [not] } },
    ]);
  });

  it('lets revisions leap where that is asked for', () => {
    const words = (over: Partial<Seeding>) => containersOf('3.6.16', over).flatMap(({ command }) => command);
    expect(words({})).not.toContain('--mark-compacted');
    expect(words({ revisionBump: 7 })).toEqual(expect.arrayContaining(['--bump-revision=7', '--mark-compacted']));
  });

  it('is pulled with the Secrets of its cluster and with those of the image that brings the backup', () => {
    const secretsOf = (imagePullSecrets: readonly object[] | undefined, pullSecrets?: readonly { name: string }[]) =>
      seedPod(blueprintOf('3.6.16', imagePullSecrets === undefined ? {} : { imagePullSecrets }), {
        ...{ ...seeding, image: { name: 'ours', pullSecrets } },
      }).spec['imagePullSecrets'];
    expect(secretsOf(undefined)).toBeUndefined();
    expect(secretsOf(undefined, [{ name: 'ours' }])).toEqual([{ name: 'ours' }]);
    expect(secretsOf([{ name: 'theirs' }])).toEqual([{ name: 'theirs' }]);
    const both = [{ name: 'ours' }, { name: 'theirs' }];
    expect(secretsOf([{ name: 'theirs' }], both)).toEqual([{ name: 'theirs' }, { name: 'ours' }]);
  });

  it('has the account that may read the backup, whatever that of members is', () => {
    const accountOf = (over: Partial<Seeding>) =>
      seedPod(blueprintOf('3.6.16', { serviceAccountName: 'members' }), { ...seeding, ...over }).spec[
        'serviceAccountName'
      ];
    expect([accountOf({ serviceAccountName: 'reader' }), accountOf({})]).toEqual(['reader', 'members']);
  });

  it('takes no more from a backup than twice what its database may hold, or than is usual', () => {
    const limitOf = (spec: object): string | undefined => {
      const read = readCluster({ metadata: { name: 'db', namespace: 'n', uid: 'c' }, spec: { size: 3, ...spec } });
      if (!read.ok) throw new Error(JSON.stringify(read.problems));
      const [fetch] = seedPod(read.value.blueprint, seeding).spec['initContainers'] as readonly Container[];
      return fetch?.command[fetch.command.indexOf('--max-bytes') + 1];
    };
    const gib = 1024 ** 3;
    expect(limitOf({})).toBe(String(16 * gib));
    expect(limitOf({ quotaBackendBytes: 4 * gib })).toBe(String(16 * gib));
    expect(limitOf({ quotaBackendBytes: 32 * gib })).toBe(String(64 * gib));
    const etcdEnv = [{ name: 'ETCD_QUOTA_BACKEND_BYTES', value: String(20 * gib) }];
    expect(limitOf({ pod: { etcdEnv } })).toBe(String(40 * gib));
  });

  it('has a disk where members of its cluster have one', () => {
    const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const durable = blueprintOf('3.6.16', { persistentVolumeClaimSpec: claim });
    expect(seedClaim(durable, seeding)).toMatchObject({
      metadata: { name, labels: { app: 'etcd-restore' }, ownerReferences: [seeding.owner] },
      spec: claim,
    });
    expect(seedClaim(blueprintOf('3.6.16'), seeding)).toBeUndefined();
  });
});
