import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareVersions, parseVersion } from '../../core/model/version.ts';
import { newest, newestOf } from '../../core/versions/releases.ts';
import type { Parsed, Problem } from '../parsed.ts';
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

describe('an EtcdCluster that says only its replicas, as in the talk', () => {
  it('is of the newest etcd, on a GiB of the default class that outlives it', () => {
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

  it('would be of a newer etcd if one were known', () => {
    const known = Object.values(newestOf).flatMap((text) => parseVersion(text) ?? []);
    expect(known.toSorted(compareVersions).at(-1)).toEqual(parseVersion(newest));
  });
});

describe('storage', () => {
  const storageOf = (storage: unknown) => valueOf(readEtcdCluster(cluster({ replicas: 1, storage }))).spec.storage;

  it('is filled in like the original does, where only a part is written', () => {
    const template = { storageClassName: 'standard', resources: { requests: { storage: '5Gi' } } };
    expect(storageOf({ volumeClaimTemplate: template }).volumeClaimTemplate).toEqual({ ...claim, ...template });
    expect(storageOf({ volumeClaimPolicy: 'Delete' })).toEqual({
      volumeClaimPolicy: 'Delete',
      volumeClaimTemplate: claim,
    });
    expect(storageOf(null).volumeClaimTemplate).toEqual(claim);
  });

  it('that was written without a size is asked for one, as in the original', () => {
    const read = readEtcdCluster(cluster({ replicas: 1, storage: { volumeClaimTemplate: { resources: {} } } }));
    expect(problemsOf(read)).toEqual([
      { path: 'spec.storage.volumeClaimTemplate.resources.requests', says: 'must be set' },
    ]);
  });
});

describe('problems of an EtcdCluster', () => {
  it.each<[string, unknown, Problem]>([
    ['no replicas', {}, { path: 'spec.replicas', says: 'must be set' }],
    ['ten members', { replicas: 10 }, { path: 'spec.replicas', says: 'must be from 1 to 9' }],
    ['etcd 2', { replicas: 1, version: '2.3.8' }, { path: 'spec.version', says: 'only Etcd version 3 is supported' }],
    [
      'an empty version',
      { replicas: 1, version: '' },
      { path: 'spec.version', says: 'must be a released etcd version' },
    ],
    [
      'an annotation of ours',
      { replicas: 1, podTemplate: { metadata: { annotations: { 'etcd.improbable.io/x': '' } } } },
      { path: 'spec.podTemplate.metadata', says: "Annotation name is a reserved name ('etcd.improbable.io' prefix)" },
    ],
    [
      'a label of ours',
      { replicas: 1, podTemplate: { metadata: { labels: { 'app.kubernetes.io/name': 'x' } } } },
      { path: 'spec.podTemplate.metadata', says: 'Label name is a reserved name' },
    ],
    [
      'a variable of ours',
      { replicas: 1, podTemplate: { etcdEnv: [{ name: 'ETCD_NAME', value: 'x' }] } },
      { path: 'spec.podTemplate.etcdEnv[0].name', says: 'TLS files come from spec.tls' },
    ],
    [
      'compaction before etcd knew it',
      { replicas: 1, version: '3.2.27', autoCompaction: { mode: 'periodic', retention: '1h' } },
      { path: 'spec', says: 'autoCompaction needs etcd 3.3' },
    ],
  ])('%s', (_, spec, problem) => {
    expect(problemsOf(readEtcdCluster(cluster(spec)))).toEqual([
      { path: problem.path, says: expect.stringContaining(problem.says) },
    ]);
  });

  it('are all told at once', () => {
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

  it('is read as it is in the talk', () => {
    const { spec } = valueOf(readEtcdPeer(peer({ clusterName: 'my-etcd', bootstrap }, { name: 'my-etcd-0' })));
    expect(spec).toMatchObject({ clusterName: 'my-etcd', version: newest, bootstrap });
  });

  it('may lack its bootstrap, as one in the original’s own samples does', () => {
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

describe('a status that somebody has spoilt', () => {
  it('never keeps an object from being read: what makes no sense is dropped, the rest stays', () => {
    const status = { replicas: 'three', clusterId: 'cafe', members: [{ id: 7 }], conditions: {} };
    expect(valueOf(readEtcdCluster({ ...cluster({ replicas: 3 }), status })).status).toEqual({ clusterId: 'cafe' });
    expect(valueOf(readEtcdCluster({ ...cluster({ replicas: 3 }), status: 'none' })).status).toEqual({});
    expect(valueOf(readEtcdPeer({ ...peer({ clusterName: 'a' }), status: [] })).status).toEqual({});
  });
});

describe('reading', () => {
  it('never throws, whatever it is given', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.jsonValue()), (raw) => {
        for (const read of [readEtcdCluster(raw), readEtcdPeer(raw), readEtcdCluster(cluster(raw))])
          expect(problemsOf(read).every(({ path, says }) => path !== '' && says !== '')).toBe(true);
      }),
    );
  });

  it('never throws on anything in the place of a field', () => {
    const fields = ['replicas', 'version', 'storage', 'podTemplate', 'tls', 'auth', 'autoCompaction', 'paused'];
    fc.assert(
      fc.property(fc.constantFrom(...fields), fc.jsonValue(), (field, value) => {
        const read = readEtcdCluster(cluster({ replicas: 3, [field]: value }));
        if (!read.ok) expect(read.problems).not.toEqual([]);
      }),
    );
  });
});
