import { expect, it } from 'vitest';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import { annotationsOf, bootstrapForbidden } from '../../../core/manifests/initial-cluster.ts';
import { memberPodManifest, templateHash } from '../../../core/manifests/pod.ts';
import type { PersistentVolumeClaim, Pod, Stored } from '../../../kube/object.ts';
import { driftOf } from './drift.ts';

const read = coreos.read({
  metadata: { name: 'db', namespace: 'default', uid: 'u' },
  spec: {
    size: 1,
    pod: {
      persistentVolumeClaimSpec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
      },
    },
  },
});
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const { blueprint } = read.value;
const name = 'db-a' as Parameters<typeof bootstrapForbidden>[0];
const join = { as: 'restarting' } as const;
const made = memberPodManifest(blueprint, { name, version: '3.5.35', join }) as unknown as Stored<Pod>;
const annotations = {
  ...made.metadata.annotations,
  ...annotationsOf(bootstrapForbidden(name, blueprint.intent), blueprint.naming),
};
const pod = { ...made, metadata: { ...made.metadata, annotations } };
const standard = { blueprint, hash: templateHash(blueprint) };

it('a member with a deleted PVC needs another volume, although the PVC exists until its pod is gone', () => {
  const claim = (metadata: object) => ({ metadata, status: { phase: 'Bound' } }) as Stored<PersistentVolumeClaim>;
  const on = (metadata: object) => driftOf({ pod, claim: claim(metadata), isStuck: false }, standard);
  expect(on({})).not.toBe('volume');
  expect(on({ deletionTimestamp: '2026-01-01T00:00:00Z' })).toBe('volume');
});
