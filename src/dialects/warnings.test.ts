import { describe, expect, it } from 'vitest';
import { coreos } from './coreos-v1beta2/dialect.ts';
import type { ClusterDialect } from './dialect.ts';
import { improbable } from './improbable-v1alpha1/dialect.ts';
import { warningsOfScope } from './warnings.ts';

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } };
const onDisks = { size: 3, version: '3.6.16', pod: { persistentVolumeClaimSpec: claim } };
const numbered = { replicas: 3, version: '3.6.16', storage: { volumeClaimTemplate: claim } };

function told(dialect: ClusterDialect, spec: object): readonly string[] {
  const read = dialect.read({ metadata: { name: 'db', namespace: 'default', uid: 'u' }, spec });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return dialect.tellSpec(read.value.blueprint).map(({ reason, message }) => `${reason}: ${message}`);
}

describe('a quota', () => {
  it('that its volume has no room for is told, with the names of both fields', () => {
    const says = (field: string) =>
      expect.stringMatching(
        `^QuotaTooLarge: spec.quotaBackendBytes is 2147483648, and the volume of ${field} only 2Gi: `,
      );
    const quotaBackendBytes = 2 * 1024 ** 3;
    expect(told(coreos, { ...onDisks, quotaBackendBytes })).toEqual([says('spec.pod.persistentVolumeClaimSpec')]);
    expect(told(improbable, { ...numbered, quotaBackendBytes })).toEqual([says('spec.storage.volumeClaimTemplate')]);
  });

  it('that has room, or no volume of its own, is not', () => {
    const quotaBackendBytes = 1024 ** 3;
    expect(told(coreos, { ...onDisks, quotaBackendBytes })).toEqual([]);
    expect(told(coreos, { ...onDisks, pod: {}, quotaBackendBytes: 8 * quotaBackendBytes })).toEqual([]);
    expect(told(coreos, onDisks)).toEqual([]);
  });
});

describe('an annotation that gives a cluster to other operators', () => {
  const key = coreos.scopeAnnotation ?? '';

  it.each(['namespace', 'Clusterwide', ''])('is told where there are none of that scope: %j', (scope) => {
    const [{ reason, message } = { reason: '', message: '' }, ...others] = warningsOfScope({ [key]: scope }, key);
    expect(others).toEqual([]);
    expect(reason).toBe('OutOfScope');
    expect(message).toContain(`etcd.database.coreos.com/scope is ${JSON.stringify(scope)}`);
  });

  it('is not told where they are', () => {
    expect(warningsOfScope({ [key]: 'clusterwide' }, key)).toEqual([]);
    expect(warningsOfScope({ other: 'x' }, key)).toEqual([]);
    expect(warningsOfScope(undefined, undefined)).toEqual([]);
  });
});
