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

describe('a field that Kubernetes does not know', () => {
  const typo = { requiredDuringScheduling: [] };
  const remedy = 'no such field in Kubernetes, so it has no effect: correct its spelling or leave it out';

  it.each([
    ['affinity', { affinity: { nodeAffinity: typo } }, 'affinity.nodeAffinity.requiredDuringScheduling'],
    [
      'a term in a list',
      { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}, { topologykey: 'a' }] } } },
      'affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].topologykey',
    ],
    ['securityContext', { securityContext: { runAsuser: 1 } }, 'securityContext.runAsuser'],
    [
      'an inherited name',
      { securityContext: { sysctls: [{ constructor: 1 }] } },
      'securityContext.sysctls[0].constructor',
    ],
    [
      'topologySpreadConstraints',
      { topologySpreadConstraints: [{ topologyKey: 'a', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', skew: 1 }] },
      'topologySpreadConstraints[0].skew',
    ],
    ['valueFrom', { etcdEnv: [{ name: 'A', valueFrom: { secretRef: {} } }] }, 'etcdEnv[A].valueFrom.secretRef'],
  ])('is a warning with its path and the remedy: %s', (_, pod, path) => {
    expect(warningsOf(coreos, { size: 3, version: '3.6.16', pod })).toEqual([
      `UnknownField: spec.pod.${path}: ${remedy}`,
    ]);
    expect(warningsOf(improbable, { replicas: 3, version: '3.6.16', podTemplate: pod })).toEqual([
      `UnknownField: spec.podTemplate.${path}: ${remedy}`,
    ]);
  });

  it('in the selector of a volume is a warning', () => {
    const withTypo = { ...claim, selector: { matchLabel: {} } };
    expect(warningsOf(coreos, { ...onVolumes, pod: { persistentVolumeClaimSpec: withTypo } })).toEqual([
      `UnknownField: spec.pod.persistentVolumeClaimSpec.selector.matchLabel: ${remedy}`,
    ]);
  });

  it('many of them, or long ones, are one short warning', () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${index}${'x'.repeat(100)}`, 1]));
    const [warning = '', ...others] = warningsOf(coreos, { ...onVolumes, pod: { securityContext: many } });
    expect(others).toEqual([]);
    expect(warning).toContain(' and 95 more: ');
    expect(warning.length).toBeLessThan(1000);
  });

  it('is no warning if all fields are known', () => {
    const labelSelector = { matchLabels: { 'any/label': 'a' }, matchExpressions: [{ key: 'a', operator: 'Exists' }] };
    const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone', labelSelector }] };
    const securityContext = {
      runAsUser: 1,
      seccompProfile: { type: 'RuntimeDefault' },
      sysctls: [{ name: 'a', value: 'b' }],
    };
    const etcdEnv = [{ name: 'A', valueFrom: { secretKeyRef: { name: 'a', key: 'b', optional: true } } }];
    const pod = { affinity: { podAffinity }, securityContext, etcdEnv };
    expect(warningsOf(coreos, { ...onVolumes, pod })).toEqual([]);
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
