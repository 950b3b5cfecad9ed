import { describe, expect, it } from 'vitest';
import { samplePod } from '../../test/support/sample-objects.ts';
import { coreosBackups } from '../apis/coreos-v1beta2/backup.ts';
import { coreos } from '../apis/coreos-v1beta2/dialect.ts';
import { improbable } from '../apis/improbable-v1alpha1/dialect.ts';
import type { KubeObject, Stored } from '../kube/object.ts';
import { slim } from './slim.ts';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const bulk = 'x'.repeat(300 * 1024);

type Any = Stored<KubeObject> & { readonly spec?: unknown; readonly status?: unknown };

const cluster = (spec: object, annotations: Readonly<Record<string, string>> = {}): Any => ({
  ...samplePod('db', 1, { annotations }),
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdCluster',
  spec,
});

describe('slim', () => {
  it('drops managedFields and the last-applied annotation', () => {
    const kept = slim({ ...cluster({ size: 3 }, { [lastApplied]: bulk, mine: 'yes' }) });
    expect(kept.metadata.annotations).toEqual({ mine: 'yes' });
    const managed = samplePod('a', 1, { managedFields: [{ manager: 'kubectl', fieldsV1: { bulk } }] as never });
    expect(slim(managed)).toEqual(samplePod('a', 1));
  });

  it('changes nothing else, and a Pod keeps every annotation', () => {
    const pod = samplePod('a', 1, { annotations: { [lastApplied]: '{}', other: 'x' } });
    expect(slim(pod)).toEqual(pod);
  });

  it.each<[string, Any, string]>([
    ['spec.pod.etcdEnv', cluster({ size: 1, pod: { etcdEnv: [{ name: 'X', value: bulk }] } }), 'spec.pod.etcdEnv'],
    ['an unknown field', cluster({ size: 1, unknown: bulk }), 'spec.unknown'],
    ['labels', { ...cluster({ size: 1 }), metadata: { ...cluster({}).metadata, labels: { bulk } } }, 'metadata.labels'],
  ])('reduces an object oversized by %s, and the dialect rejects it with the name of the field', (_, object, field) => {
    const kept = slim(object);
    expect(JSON.stringify(kept).length).toBeLessThan(100 * 1024);
    expect(kept.metadata).toMatchObject({ name: 'db', namespace: 'default', uid: 'uid-of-db', resourceVersion: '1' });
    for (const read of [coreos.read, improbable.read, coreosBackups.read]) {
      const message = expect.stringMatching(/too large.*more than 256 KiB/);
      expect(read(kept)).toEqual({ ok: false, problems: [{ path: expect.stringContaining(field), message }] });
    }
  });

  it('keeps status and small annotations of an oversized object', () => {
    const status = { clusterId: 'abc', bootstrap: { members: ['db-0'], token: 't' } };
    const kept = slim({ ...cluster({ bulk }, { bulk, 'etcd.database.coreos.com/status': 's'.repeat(9000) }), status });
    expect((kept as Any).status).toEqual(status);
    expect(Object.keys(kept.metadata.annotations ?? {})).toEqual(['etcd.database.coreos.com/status']);
  });

  it('keeps the small parts of an oversized Pod', () => {
    const container = { name: 'etcd', image: 'etcd:v3', env: [{ name: 'A', value: bulk }] };
    const pod = { ...samplePod('a', 1), spec: { hostname: 'a', containers: [container] } };
    const kept = slim(pod as never) as unknown as typeof pod;
    expect(kept.spec.hostname).toBe('a');
    expect(kept.spec.containers[0]).toMatchObject({ name: 'etcd', image: 'etcd:v3' });
    expect(JSON.stringify(kept).length).toBeLessThan(10_000);
  });

  it('marks a deeply nested object as oversized', () => {
    let deep: object = {};
    for (let i = 0; i < 9_000; i++) deep = { deep };
    const kept = slim(cluster({ size: 1, deep }));
    expect(coreos.read(kept)).toMatchObject({ ok: false });
    expect(JSON.stringify(kept).length).toBeLessThan(2_000);
  });

  it('takes milliseconds, whatever the object contains', () => {
    const empty = { ...samplePod('a', 1), spec: { list: Array.from({ length: 400_000 }, () => ({})) } };
    const costOf = (): number => {
      const began = process.cpuUsage();
      slim(empty as never);
      return process.cpuUsage(began).user;
    };
    // One of them may include a garbage collection for all test files of this process.
    expect(Math.min(costOf(), costOf(), costOf())).toBeLessThan(300_000);
  });

  it('reduces an object with very many small parts', () => {
    const labels = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`l${index}`, 'x']));
    const kept = slim({ ...cluster({ size: 1 }), metadata: { ...cluster({}).metadata, labels } });
    expect(JSON.stringify(kept).length).toBeLessThan(100 * 1024);
  });
});
