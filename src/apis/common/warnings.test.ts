import { describe, expect, it } from 'vitest';
import { coreos } from '../coreos-v1beta2/dialect.ts';
import { improbable } from '../improbable-v1alpha1/dialect.ts';
import type { ClusterDialect } from './dialect.ts';
import { warningsOfScope } from './warnings.ts';

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } };
const onVolumes = { size: 3, version: '3.6.16', pod: { persistentVolumeClaimSpec: claim } };
const numbered = { replicas: 3, version: '3.6.16', storage: { volumeClaimTemplate: claim } };

function warningsOf(dialect: ClusterDialect, spec: object): readonly string[] {
  const read = dialect.read({ metadata: { name: 'db', namespace: 'default', uid: 'u' }, spec });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return dialect.eventsOfSpec(read.value.blueprint).map(({ reason, message }) => `${reason}: ${message}`);
}

describe('quotaBackendBytes', () => {
  it('above the volume size is a warning that names both fields', () => {
    const message = (field: string) =>
      expect.stringMatching(
        `^QuotaTooLarge: spec.quotaBackendBytes is 2147483648, but the volume of ${field} is only 2Gi: `,
      );
    const quotaBackendBytes = 2 * 1024 ** 3;
    expect(warningsOf(coreos, { ...onVolumes, quotaBackendBytes })).toEqual([
      message('spec.pod.persistentVolumeClaimSpec'),
    ]);
    expect(warningsOf(improbable, { ...numbered, quotaBackendBytes })).toEqual([
      message('spec.storage.volumeClaimTemplate'),
    ]);
  });

  it('below the volume size, or without a volume, is no warning', () => {
    const quotaBackendBytes = 1024 ** 3;
    expect(warningsOf(coreos, { ...onVolumes, quotaBackendBytes })).toEqual([]);
    expect(warningsOf(coreos, { ...onVolumes, pod: {}, quotaBackendBytes: 8 * quotaBackendBytes })).toEqual([]);
    expect(warningsOf(coreos, onVolumes)).toEqual([]);
  });
});

describe('the scope annotation', () => {
  const key = coreos.scopeAnnotation ?? '';

  it.each(['namespace', 'Clusterwide', ''])('with the unknown scope %j is a warning', (scope) => {
    const [{ reason, message } = { reason: '', message: '' }, ...others] = warningsOfScope({ [key]: scope }, key);
    expect(others).toEqual([]);
    expect(reason).toBe('UnknownScope');
    expect(message).toContain(`etcd.database.coreos.com/scope is ${JSON.stringify(scope)}`);
  });

  it('with the scope clusterwide, or absent, is no warning', () => {
    expect(warningsOfScope({ [key]: 'clusterwide' }, key)).toEqual([]);
    expect(warningsOfScope({ other: 'x' }, key)).toEqual([]);
    expect(warningsOfScope(undefined, undefined)).toEqual([]);
  });
});
