import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Problem } from '../common/schema/parsed.ts';
import { readEtcdCluster } from './read.ts';

const cluster = (spec: unknown, metadata: object = {}): unknown => ({
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  metadata: { name: 'example', namespace: 'default', uid: 'u', ...metadata },
  spec,
});

const problemsOf = (raw: unknown): readonly Problem[] => {
  const read = readEtcdCluster(raw);
  return read.ok ? [] : read.problems;
};

const valueOf = (raw: unknown) => {
  const read = readEtcdCluster(raw);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
};

describe('an EtcdCluster with only a size', () => {
  it('has the defaults of the original, and replaces members after five minutes', () => {
    expect(valueOf(cluster({ size: 3 })).spec).toEqual({
      size: 3,
      version: '3.2.13',
      repository: 'quay.io/coreos/etcd',
      paused: false,
      replaceMemberAfterSeconds: 300,
      keepRemovedVolumesSeconds: 3600,
      volumeClaimPolicy: 'Delete',
    });
  });
});

describe('a version', () => {
  it.each([
    ['3.1.10', '3.1.10'],
    ['v3.5.21', '3.5.21'],
    ['', '3.2.13'],
    [null, '3.2.13'],
  ])('%j is read as %s', (written, version) => {
    expect(valueOf(cluster({ size: 1, version: written })).spec.version).toBe(version);
  });
});

describe('fields that are null or unknown', () => {
  it('count as absent', () => {
    const spec = { size: 1, paused: null, pod: { labels: null, hostNetwork: true }, TLS: null, mystery: 1 };
    expect(valueOf(cluster(spec)).spec).toMatchObject({ size: 1, paused: false, pod: {} });
    expect(valueOf(cluster(spec)).spec.pod).toEqual({});
    expect(valueOf(cluster(spec)).spec).not.toHaveProperty('mystery');
  });
});

describe('an invalid status', () => {
  it('never makes a cluster invalid: invalid fields are dropped, the others stay', () => {
    const status = { phase: 'Dancing', size: 'three', clusterId: 'cafe', memberStatus: [{ id: 7 }], conditions: {} };
    expect(valueOf({ ...(cluster({ size: 3 }) as object), status }).status).toEqual({ clusterId: 'cafe' });
    expect(valueOf({ ...(cluster({ size: 3 }) as object), status: 'none' }).status).toEqual({});
    expect(valueOf(cluster({ size: 3 })).status).toEqual({});
  });
});

describe('problems', () => {
  it.each<[string, unknown, Problem]>([
    ['no spec', undefined, { path: 'spec', message: 'must be set' }],
    ['no size', {}, { path: 'spec.size', message: 'must be set' }],
    ['size as text', { size: '3' }, { path: 'spec.size', message: 'must be a whole number' }],
    ['a fraction as size', { size: 1.5 }, { path: 'spec.size', message: 'must be a whole number' }],
    ['paused as text', { size: 1, paused: 'yes' }, { path: 'spec.paused', message: 'must be true or false' }],
    [
      'an operatorSecret without serverSecret',
      { size: 1, TLS: { static: { operatorSecret: 'a' } } },
      { path: 'spec.TLS.static', message: 'operator secret set but member serverSecret not set' },
    ],
    [
      'a toleration with an unknown effect',
      { size: 1, pod: { tolerations: [{ effect: 'Never' }] } },
      {
        path: 'spec.pod.tolerations[0].effect',
        message: 'must be one of "", "NoSchedule", "PreferNoSchedule", "NoExecute"',
      },
    ],
    [
      'two variables with one name',
      { size: 1, pod: { etcdEnv: [{ name: 'A' }, { name: 'A' }] } },
      { path: 'spec.pod.etcdEnv[1].name', message: 'is a duplicate: A' },
    ],
    [
      'an election timeout below five heartbeats',
      { size: 1, pod: { etcdEnv: [{ name: 'ETCD_ELECTION_TIMEOUT', value: '499' }] } },
      {
        path: 'spec.pod.etcdEnv',
        message:
          'ETCD_ELECTION_TIMEOUT must be at least five times ETCD_HEARTBEAT_INTERVAL: raise the one or lower the other',
      },
    ],
    [
      'too many tolerations',
      { size: 1, pod: { tolerations: Array.from({ length: 65 }, () => ({})) } },
      { path: 'spec.pod.tolerations', message: 'must not have more than 64 items' },
    ],
    [
      'auth without credentials',
      { size: 1, auth: {} },
      { path: 'spec.auth.operatorCredentials', message: 'must be set' },
    ],
    [
      'credentials in another namespace',
      { size: 1, auth: { operatorCredentials: 'other/root' } },
      { path: 'spec.auth.operatorCredentials', message: "must be the name of a Secret of the cluster's own namespace" },
    ],
    [
      'a number as a label',
      { size: 1, pod: { labels: { 'example.com/team': 5 } } },
      { path: 'spec.pod.labels[example.com/team]', message: 'must be text' },
    ],
    [
      'static and managed certificates',
      { size: 1, TLS: { static: { member: { peerSecret: 'p' } }, managed: {} } },
      { path: 'spec.TLS', message: 'static and managed exclude each other: leave one of them out' },
    ],
    [
      'managed certificates for an etcd that does not reload them',
      { size: 1, version: '3.1.10', TLS: { managed: {} } },
      {
        path: 'spec',
        message: 'TLS.managed needs etcd 3.2 or newer, which reads renewed certificates by itself: raise version',
      },
    ],
    [
      'a certificate lifetime of 0',
      { size: 1, TLS: { managed: { certificateLifetimeHours: 0 } } },
      { path: 'spec.TLS.managed.certificateLifetimeHours', message: 'must be from 1 to 17520 hours (two years)' },
    ],
  ])('%s', (_, spec, problem) => {
    expect(problemsOf(cluster(spec))).toEqual([problem]);
  });

  it('are all reported at once', () => {
    const spec = {
      size: 0,
      version: 'latest',
      repository: 'a b',
      pod: { labels: { app: 'x' }, etcdEnv: [{ name: 'ETCD_NAME', value: 'x' }] },
      TLS: { static: { member: { serverSecret: 's' } } },
    };
    expect(problemsOf(cluster(spec, { name: 'with.dots' })).map(({ path }) => path)).toEqual([
      'metadata.name',
      'spec.size',
      'spec.version',
      'spec.repository',
      'spec.pod.labels',
      'spec.pod.etcdEnv[0].name',
      'spec.TLS.static',
    ]);
  });

  it('include the name of the API server’s Service', () => {
    expect(problemsOf(cluster({ size: 1 }, { name: 'kubernetes' })).map(({ path }) => path)).toEqual(['metadata.name']);
    expect(problemsOf(cluster({ size: 1 }, { name: 'kubernetes', namespace: 'mine' }))).toEqual([]);
  });
});

describe('reading', () => {
  it('never throws, and each problem has a path and a message', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.jsonValue()), (raw) => {
        const problems = problemsOf(raw);
        expect(problems.every(({ path, message }) => path !== '' && message !== '')).toBe(true);
      }),
    );
  });

  it('never throws on an EtcdCluster with any value in any field', () => {
    const whole = cluster({
      size: 3,
      pod: { labels: { a: 'b' }, etcdEnv: [{ name: 'A', valueFrom: {} }], resources: { limits: { cpu: 1 } } },
      TLS: { static: { member: { serverSecret: 's' }, operatorSecret: 'o' } },
    });
    const places = placesIn(whole);
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.jsonValue(), (place, value) => {
        const read = readEtcdCluster(withAt(whole, place, value));
        if (!read.ok) expect(read.problems).not.toEqual([]);
      }),
    );
  });

  it('limits the number of problems, so that they fit into a status', () => {
    const labels = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${i}`.repeat(1000), 7]));
    const problems = problemsOf(cluster({ size: 1, pod: { labels } }));
    expect(problems.at(-1)).toEqual({ path: '(root)', message: 'has 950 more problems' });
    expect(JSON.stringify(problems).length).toBeLessThan(32_768);
  });

  it('handles deep nesting, long texts and long lists', () => {
    let deep: unknown = null;
    for (let i = 0; i < 100_000; i++) deep = { deep };
    expect(problemsOf(cluster({ size: 1, pod: { affinity: { podAffinity: deep } } }))).toEqual([
      { path: 'spec.pod.affinity.podAffinity', message: 'must not have more than 16384 characters as JSON' },
    ]);
    const long = 'a.'.repeat(500_000);
    const spec = { size: 1, version: long, repository: long, pod: { busyboxImage: long, ClusterDomain: long } };
    expect(problemsOf(cluster(spec, { name: long })).length).toBeGreaterThan(4);
    const etcdEnv = Array.from({ length: 100_000 }, (_, i) => ({ name: `V${i}` }));
    expect(problemsOf(cluster({ size: 1, pod: { etcdEnv } }))).toEqual([
      { path: 'spec.pod.etcdEnv', message: 'must not have more than 128 items' },
    ]);
  });
});

type Place = readonly (string | number)[];

function placesIn(value: unknown, at: Place = []): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [at];
  const inner = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [at].concat(inner.flatMap(([key, below]) => placesIn(below, at.concat(key)) as Place[]));
}

function withAt(value: unknown, [key, ...rest]: Place, replacement: unknown): unknown {
  if (key === undefined) return replacement;
  const copy: Record<string, unknown> = Object.assign(Array.isArray(value) ? [] : {}, value);
  copy[key] = withAt(copy[key], rest, replacement);
  return copy;
}
