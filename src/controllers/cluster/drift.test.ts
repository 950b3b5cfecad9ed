import { expect, it } from 'vitest';
import { annotationsOf, sealed } from '../../core/desired/initial-cluster.ts';
import { memberPod, templateMark } from '../../core/desired/pod.ts';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import type { PersistentVolumeClaim, Pod, Stored } from '../../kube/object.ts';
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
const name = 'db-a' as Parameters<typeof sealed>[0];
const join = { as: 'returner' } as const;
const made = memberPod(blueprint, { name, version: '3.5.35', join }) as unknown as Stored<Pod>;
const annotations = {
  ...made.metadata.annotations,
  ...annotationsOf(sealed(name, blueprint.intent), blueprint.naming),
};
const pod = { ...made, metadata: { ...made.metadata, annotations } };
const standard = { blueprint, mark: templateMark(blueprint) };

it('a member needs another disk once its own is deleted, although it is there until its pod goes', () => {
  const claim = (metadata: object) => ({ metadata, status: { phase: 'Bound' } }) as Stored<PersistentVolumeClaim>;
  const on = (metadata: object) => driftOf({ pod, claim: claim(metadata), isStuck: false }, standard);
  expect(on({})).not.toBe('disk');
  expect(on({ deletionTimestamp: '2026-01-01T00:00:00Z' })).toBe('disk');
});
