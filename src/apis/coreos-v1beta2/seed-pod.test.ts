import { describe, expect, it } from 'vitest';
import type { MemberName } from '../../core/cluster/model/names.ts';
import type { Blueprint } from '../../core/manifests/manifest.ts';
import { memberPodManifest } from '../../core/manifests/pod.ts';
import { type Seeding, seedClaim, seedPod } from '../../core/manifests/seed-pod.ts';
import { readCluster } from './intent.ts';

function blueprintOf(version: string, pod: object = {}): Blueprint {
  const read = readCluster({ metadata: { name: 'db', namespace: 'n', uid: 'c' }, spec: { size: 3, version, pod } });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value.blueprint;
}

const name = 'db-seed' as MemberName;
const seeding: Seeding = {
  name,
  token: 'token',
  owner: { apiVersion: 'v1', kind: 'Restore', name: 'r', uid: 'u', controller: true },
  labels: { app: 'etcd-restore' },
  annotations: { restored: 'u' },
  image: { name: 'ours' },
  args: ['--url', 's3://b/k'],
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

describe('the seed pod of a restore', () => {
  it('is a member pod with init containers that fetch the backup, restore the data directory and move it', () => {
    const blueprint = blueprintOf('3.6.16');
    const join = { as: 'bootstrap', of: { members: [name], token: 'token' } } as const;
    const ordinary = memberPodManifest(blueprint, { name, join, version: '3.6.16' });
    expect(seedPod(blueprint, seeding).spec['containers']).toEqual(ordinary.spec['containers']);
    expect(containersOf('3.6.16').map((container) => [container.name, container.image])).toEqual([
      ['fetch-backup', 'ours'],
      ['restore-datadir', 'quay.io/coreos/etcd:v3.6.16'],
      ['place-datadir', 'ours'],
    ]);
  });

  it('has resources in every container if members have them, as a ResourceQuota requires', () => {
    const resources = { requests: { memory: '1Gi' }, limits: { memory: '1Gi' } };
    const { initContainers } = seedPod(blueprintOf('3.6.16', { resources }), seeding).spec;
    for (const container of initContainers as readonly object[])
      expect(container).toMatchObject({
        resources: { requests: { memory: expect.any(String) }, limits: { memory: expect.any(String) } },
      });
  });

  it('has no check-dns container, because its name is not in DNS before the switch', () => {
    const named = blueprintOf('3.6.16', { busyboxImage: 'busybox:1', DNSTimeoutInSecond: 60 });
    const { initContainers } = seedPod(named, seeding).spec;
    expect((initContainers as readonly Container[])[0]?.name).toBe('fetch-backup');
  });

  it('has no labels of the cluster before the switch, so that no Service and no cluster controller selects it', () => {
    const { labels, ownerReferences } = seedPod(blueprintOf('3.6.16', { labels: { tier: 'db' } }), seeding).metadata;
    expect(labels).toEqual({ app: 'etcd-restore' });
    expect(ownerReferences).toEqual([seeding.owner]);
  });

  it('restores with etcdctl before 3.5 and with etcdutl from 3.5', () => {
    expect(['3.1.10', '3.4.31', '3.5.35', '3.7.3'].map(toolOf)).toEqual([
      '/usr/local/bin/etcdctl',
      '/usr/local/bin/etcdctl',
      '/usr/local/bin/etcdutl',
      '/usr/local/bin/etcdutl',
    ]);
  });

  it('never skips the hash check of the snapshot file', () => {
    for (const version of ['3.1.10', '3.4.31', '3.5.35', '3.7.3'])
      expect(
        containersOf(version)
          .flatMap(({ command }) => command)
          .join(' '),
      ).not.toMatch(/skip-hash/);
  });

  it('has no anti-affinity to the old members, so that it fits on their nodes', () => {
    const { affinity } = seedPod(blueprintOf('3.6.16', { antiAffinity: true }), seeding).spec as {
      readonly affinity: { readonly podAntiAffinity: Readonly<Record<string, readonly object[]>> };
    };
    const matchLabels = { etcd_cluster: 'db' };
    const not = { key: 'etcd_cluster', operator: 'NotIn', values: ['db'] };
    expect(affinity.podAntiAffinity['requiredDuringSchedulingIgnoredDuringExecution']).toEqual([
      { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels, matchExpressions: [not] } },
    ]);
  });

  it('bumps revisions with revisionBump', () => {
    const words = (over: Partial<Seeding>) => containersOf('3.6.16', over).flatMap(({ command }) => command);
    expect(words({})).not.toContain('--mark-compacted');
    expect(words({ revisionBump: 7 })).toEqual(expect.arrayContaining(['--bump-revision=7', '--mark-compacted']));
  });

  it('has the image pull Secrets of its cluster and of the agent image', () => {
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

  it('has the ServiceAccount of the restore, or else that of members', () => {
    const accountOf = (over: Partial<Seeding>) =>
      seedPod(blueprintOf('3.6.16', { serviceAccountName: 'members' }), { ...seeding, ...over }).spec[
        'serviceAccountName'
      ];
    expect([accountOf({ serviceAccountName: 'reader' }), accountOf({})]).toEqual(['reader', 'members']);
  });

  it('limits the backup to twice the quota, and to at least 16 GiB', () => {
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

  it('has a PVC if members have one', () => {
    const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const durable = blueprintOf('3.6.16', { persistentVolumeClaimSpec: claim });
    expect(seedClaim(durable, seeding)).toMatchObject({
      metadata: { name, labels: { app: 'etcd-restore' }, ownerReferences: [seeding.owner] },
      spec: claim,
    });
    expect(seedClaim(blueprintOf('3.6.16'), seeding)).toBeUndefined();
  });
});
