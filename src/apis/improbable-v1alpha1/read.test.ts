import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareVersions, parseVersion } from '../../core/cluster/model/version.ts';
import { newest, newestOf } from '../../core/versions/releases.ts';
import type { Parsed, Problem } from '../common/schema/parsed.ts';
import { readEtcdCluster, readEtcdPeer } from './read.ts';

type Json = Readonly<Record<string, unknown>>;

const object =
  (kind: string) =>
  (spec: unknown, metadata: Json = {}) => ({
    apiVersion: 'etcd.improbable.io/v1alpha1',
    kind,
    metadata: { name: 'my-etcd', namespace: 'foo', uid: 'u', ...metadata },
    spec,
  });
const cluster = object('EtcdCluster');
const peer = object('EtcdPeer');

const problemsOf = (read: Parsed<unknown>): readonly Problem[] => (read.ok ? [] : read.problems);

function valueOf<T>(read: Parsed<T>): T {
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
}

const claim = {
  accessModes: ['ReadWriteOnce'],
  volumeMode: 'Filesystem',
  resources: { requests: { storage: '1Gi' } },
};

describe('an EtcdCluster with only replicas, as in the original’s example', () => {
  it('has the newest etcd and a retained volume of 1Gi', () => {
    expect(valueOf(readEtcdCluster(cluster({ replicas: 3 }))).spec).toEqual({
      replicas: 3,
      version: newest,
      repository: 'quay.io/coreos/etcd',
      storage: { volumeClaimTemplate: claim, volumeClaimPolicy: 'Retain' },
      paused: false,
      replaceMemberAfterSeconds: 300,
      keepRemovedVolumesSeconds: 3600,
    });
  });

  it('has the newest of all known versions', () => {
    const known = Object.values(newestOf).flatMap((text) => parseVersion(text) ?? []);
    expect(known.toSorted(compareVersions).at(-1)).toEqual(parseVersion(newest));
  });
});

describe('storage', () => {
  const storageOf = (storage: unknown) => valueOf(readEtcdCluster(cluster({ replicas: 1, storage }))).spec.storage;

  it('has the defaults of the original for missing fields', () => {
    const template = { storageClassName: 'standard', resources: { requests: { storage: '5Gi' } } };
    expect(storageOf({ volumeClaimTemplate: template }).volumeClaimTemplate).toEqual({ ...claim, ...template });
    expect(storageOf({ volumeClaimPolicy: 'Delete' })).toEqual({
      volumeClaimPolicy: 'Delete',
      volumeClaimTemplate: claim,
    });
    expect(storageOf(null).volumeClaimTemplate).toEqual(claim);
  });

  it('without a size is refused, as in the original', () => {
    const read = readEtcdCluster(cluster({ replicas: 1, storage: { volumeClaimTemplate: { resources: {} } } }));
    expect(problemsOf(read)).toEqual([
      { path: 'spec.storage.volumeClaimTemplate.resources.requests', message: 'must be set' },
    ]);
  });
});

describe('problems of an EtcdCluster', () => {
  it.each<[string, unknown, Problem]>([
    ['no replicas', {}, { path: 'spec.replicas', message: 'must be set' }],
    ['ten members', { replicas: 10 }, { path: 'spec.replicas', message: 'must be from 1 to 9' }],
    [
      'etcd 2',
      { replicas: 1, version: '2.3.8' },
      { path: 'spec.version', message: 'only Etcd version 3 is supported' },
    ],
    [
      'an empty version',
      { replicas: 1, version: '' },
      { path: 'spec.version', message: 'must be a released etcd version' },
    ],
    [
      'a reserved annotation',
      { replicas: 1, podTemplate: { metadata: { annotations: { 'etcd.improbable.io/x': '' } } } },
      {
        path: 'spec.podTemplate.metadata',
        message: "Annotation name is a reserved name ('etcd.improbable.io' prefix)",
      },
    ],
    [
      'a reserved label',
      { replicas: 1, podTemplate: { metadata: { labels: { 'app.kubernetes.io/name': 'x' } } } },
      { path: 'spec.podTemplate.metadata', message: 'Label name is a reserved name' },
    ],
    [
      'a managed variable',
      { replicas: 1, podTemplate: { etcdEnv: [{ name: 'ETCD_NAME', value: 'x' }] } },
      { path: 'spec.podTemplate.etcdEnv[0].name', message: 'TLS files come from spec.tls' },
    ],
    [
      'autoCompaction with etcd 3.2',
      { replicas: 1, version: '3.2.27', autoCompaction: { mode: 'periodic', retention: '1h' } },
      { path: 'spec', message: 'autoCompaction needs etcd 3.3' },
    ],
  ])('%s', (_, spec, problem) => {
    expect(problemsOf(readEtcdCluster(cluster(spec)))).toEqual([
      { path: problem.path, message: expect.stringContaining(problem.message) },
    ]);
  });

  it('are all reported at once', () => {
    const spec = { replicas: 0, version: 'latest', repository: 'a b', storage: { volumeClaimPolicy: 'Keep' } };
    const problems = problemsOf(readEtcdCluster(cluster(spec, { name: 'a'.repeat(57) })));
    expect(problems.map(({ path }) => path)).toEqual([
      'metadata.name',
      'spec.replicas',
      'spec.version',
      'spec.storage.volumeClaimPolicy',
      'spec.repository',
    ]);
  });
});

describe('an EtcdPeer', () => {
  const bootstrap = {
    initialClusterState: 'New',
    static: { initialCluster: [{ name: 'my-etcd-0', host: 'my-etcd-0.my-etcd.foo.svc' }] },
  };

  it('of the original’s example is read', () => {
    const { spec } = valueOf(readEtcdPeer(peer({ clusterName: 'my-etcd', bootstrap }, { name: 'my-etcd-0' })));
    expect(spec).toMatchObject({ clusterName: 'my-etcd', version: newest, bootstrap });
  });

  it('may lack its bootstrap, as in a sample of the original', () => {
    expect(valueOf(readEtcdPeer(peer({ clusterName: 'my-etcd' }))).spec.bootstrap).toBeUndefined();
    const half = { initialClusterState: 'Existing' };
    expect(valueOf(readEtcdPeer(peer({ clusterName: 'my-etcd', bootstrap: half }))).spec.bootstrap).toEqual(half);
  });

  it.each<[string, unknown, string]>([
    ['no cluster', { bootstrap }, 'spec.clusterName'],
    ['a cluster of 64 letters', { clusterName: 'a'.repeat(64) }, 'spec.clusterName'],
    [
      'another state',
      { clusterName: 'a', bootstrap: { initialClusterState: 'new' } },
      'spec.bootstrap.initialClusterState',
    ],
    [
      'an empty list',
      { clusterName: 'a', bootstrap: { ...bootstrap, static: { initialCluster: [] } } },
      'spec.bootstrap.static.initialCluster',
    ],
    [
      'a host with a port',
      { clusterName: 'a', bootstrap: { ...bootstrap, static: { initialCluster: [{ name: 'a', host: 'a:2380' }] } } },
      'spec.bootstrap.static.initialCluster[0].host',
    ],
  ])('with %s is refused', (_, spec, path) => {
    expect(problemsOf(readEtcdPeer(peer(spec))).map((problem) => problem.path)).toEqual([path]);
  });
});

describe('an invalid status', () => {
  it('never makes an object invalid: invalid fields are dropped, the others stay', () => {
    const status = { replicas: 'three', clusterId: 'cafe', members: [{ id: 7 }], conditions: {} };
    expect(valueOf(readEtcdCluster({ ...cluster({ replicas: 3 }), status })).status).toEqual({ clusterId: 'cafe' });
    expect(valueOf(readEtcdCluster({ ...cluster({ replicas: 3 }), status: 'none' })).status).toEqual({});
    expect(valueOf(readEtcdPeer({ ...peer({ clusterName: 'a' }), status: [] })).status).toEqual({});
  });
});

describe('reading', () => {
  it('never throws on any value', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.jsonValue()), (raw) => {
        for (const read of [readEtcdCluster(raw), readEtcdPeer(raw), readEtcdCluster(cluster(raw))])
          expect(problemsOf(read).every(({ path, message }) => path !== '' && message !== '')).toBe(true);
      }),
    );
  });

  it('never throws on any value in a field', () => {
    const fields = ['replicas', 'version', 'storage', 'podTemplate', 'tls', 'auth', 'autoCompaction', 'paused'];
    fc.assert(
      fc.property(fc.constantFrom(...fields), fc.jsonValue(), (field, value) => {
        const read = readEtcdCluster(cluster({ replicas: 3, [field]: value }));
        if (!read.ok) expect(read.problems).not.toEqual([]);
      }),
    );
  });
});
