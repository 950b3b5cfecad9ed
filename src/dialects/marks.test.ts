import { describe, expect, it } from 'vitest';
import { claimMark } from '../core/desired/claim.ts';
import { templateMark } from '../core/desired/pod.ts';
import { coreos } from './coreos-v1beta2/dialect.ts';
import type { ClusterDialect } from './dialect.ts';
import { improbable } from './improbable-v1alpha1/dialect.ts';

/**
 * By these marks an operator knows members that were made by one before it. They are on pods and volumes of clusters that run:
 * where one of these tests fails, the next release would make all of them again.
 */

const resources = { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '1Gi' } };
const pod = {
  resources,
  nodeSelector: { disk: 'fast' },
  tolerations: [{ key: 'db', operator: 'Exists' }],
  securityContext: { runAsUser: 1000 },
  etcdEnv: [{ name: 'ETCD_MAX_TXN_OPS', value: '256' }],
  imagePullSecrets: [{ name: 'pull' }],
  priorityClassName: 'high',
  serviceAccountName: 'etcd',
  topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }],
};
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'fast' };
const settings = { quotaBackendBytes: 1_073_741_824, autoCompaction: { mode: 'periodic', retention: '1h' } };
const given = { static: { member: { peerSecret: 'p', serverSecret: 's' }, operatorSecret: 'o' } };

function marksOf({ read }: ClusterDialect, spec: object): string {
  const metadata = { name: 'db', namespace: 'default', uid: 'u' };
  const parsed = read({ metadata, spec: { version: '3.5.35', ...spec } });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const { blueprint } = parsed.value;
  return `${templateMark(blueprint)} ${claimMark(blueprint.template)}`;
}

describe('marks that stay', () => {
  const busy = { antiAffinity: true, busyboxImage: 'busybox', ClusterDomain: '.cluster.local' };
  it.each([
    ['of the least of clusters', {}, '0fd02ae49ea6c76a 08f44b07b5901a25'],
    [
      'of all that pods can have',
      { ...settings, pod: { ...pod, ...busy, persistentVolumeClaimSpec: claim } },
      '8e99087133bcd78a 3bf40c30e489db8d',
    ],
    ['of certificates of others', { TLS: given }, '42f9e69111ae9898 08f44b07b5901a25'],
    ['of certificates of our own', { TLS: { managed: {} } }, 'c3f27ef53db788fb 08f44b07b5901a25'],
  ])('%s, in the one API', (_, spec, mark) => {
    expect(marksOf(coreos, { size: 3, ...spec })).toBe(mark);
  });

  it.each([
    ['of the least of clusters', {}, 'ebeb2ace38eda77f 1d6dc18a094f0faf'],
    [
      'of all that pods can have',
      { ...settings, podTemplate: pod, storage: { volumeClaimTemplate: claim } },
      'a968316a749bda6d 1e309bf708b4c163',
    ],
    ['of certificates of our own', { tls: { managed: {} } }, '43c703caed212868 1d6dc18a094f0faf'],
  ])('%s, in the other', (_, spec, mark) => {
    expect(marksOf(improbable, { replicas: 3, ...spec })).toBe(mark);
  });
});
