import { describe, expect, it } from 'vitest';
import { templateHash } from '../../core/manifests/pod.ts';
import { volumeKindHash } from '../../core/manifests/pvc.ts';
import { coreos } from '../coreos-v1beta2/dialect.ts';
import { improbable } from '../improbable-v1alpha1/dialect.ts';
import type { ClusterDialect } from './dialect.ts';

/**
 * The operator compares these hashes with the annotations of running pods and PVCs. A changed hash would make the next
 * release replace all members.
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

function hashesOf({ read }: ClusterDialect, spec: object): string {
  const metadata = { name: 'db', namespace: 'default', uid: 'u' };
  const parsed = read({ metadata, spec: { version: '3.5.35', ...spec } });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const { blueprint } = parsed.value;
  return `${templateHash(blueprint)} ${volumeKindHash(blueprint.template)}`;
}

describe('the template and PVC hashes', () => {
  const busy = { antiAffinity: true, busyboxImage: 'busybox', ClusterDomain: '.cluster.local' };
  it.each([
    ['a minimal cluster', {}, '0fd02ae49ea6c76a 08f44b07b5901a25'],
    [
      'a cluster with all pod settings',
      { ...settings, pod: { ...pod, ...busy, persistentVolumeClaimSpec: claim } },
      '8e99087133bcd78a 3bf40c30e489db8d',
    ],
    ['static certificates', { TLS: given }, '42f9e69111ae9898 08f44b07b5901a25'],
    ['managed certificates', { TLS: { managed: {} } }, 'c3f27ef53db788fb 08f44b07b5901a25'],
  ])('of %s do not change in the coreos API', (_, spec, hashes) => {
    expect(hashesOf(coreos, { size: 3, ...spec })).toBe(hashes);
  });

  it.each([
    ['a minimal cluster', {}, 'ebeb2ace38eda77f 1d6dc18a094f0faf'],
    [
      'a cluster with all pod settings',
      { ...settings, podTemplate: pod, storage: { volumeClaimTemplate: claim } },
      'a968316a749bda6d 1e309bf708b4c163',
    ],
    ['managed certificates', { tls: { managed: {} } }, '43c703caed212868 1d6dc18a094f0faf'],
  ])('of %s do not change in the improbable API', (_, spec, hashes) => {
    expect(hashesOf(improbable, { replicas: 3, ...spec })).toBe(hashes);
  });
});
