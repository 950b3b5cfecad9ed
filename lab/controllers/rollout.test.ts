import { expect, it } from 'vitest';
import type { Stored } from '../../src/kube/object.ts';
import type { Deployment, ReplicaSet } from '../kinds.ts';
import { nextScales, revisionAnnotation, revisionFor, templateHash } from './rollout.ts';

const deployment = (replicas: number, strategy: object): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: { replicas, strategy, selector: {}, template: { spec: { containers: [{ name: 'c', image: 'busybox' }] } } },
});
const set = (wanted: number, available: number): Stored<ReplicaSet> => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 's', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
  spec: { replicas: wanted, selector: {} },
  status: { replicas: wanted, availableReplicas: available },
});

it('Recreate scales old ReplicaSets to zero before the new one is scaled up', () => {
  const recreate = deployment(2, { type: 'Recreate' });
  expect(nextScales(recreate, { current: set(0, 0), old: [set(2, 2)] })).toEqual({ current: 0, old: [0] });
  expect(nextScales(recreate, { current: undefined, old: [set(0, 0)] })).toEqual({ current: 2, old: [0] });
});

it('RollingUpdate never exceeds maxSurge and maxUnavailable', () => {
  const rolling = deployment(4, { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } });
  expect(nextScales(rolling, { current: undefined, old: [set(4, 4)] })).toEqual({ current: 1, old: [3] });
  expect(nextScales(rolling, { current: set(1, 0), old: [set(3, 3)] })).toEqual({ current: 2, old: [3] });
  expect(nextScales(rolling, { current: set(2, 2), old: [set(3, 3)] })).toEqual({ current: 2, old: [1] });
  expect(nextScales(rolling, { current: set(4, 4), old: [set(1, 1)] })).toEqual({ current: 4, old: [0] });
});

it('the template hash does not depend on the order of fields', () => {
  const one = deployment(1, {});
  const [container] = one.spec?.template.spec?.containers ?? [];
  const other = {
    ...one,
    spec: { ...one.spec, template: { spec: { containers: [{ image: container?.image, name: 'c' }] } } },
  };
  expect(templateHash(other as Deployment)).toBe(templateHash(one));
});

it('a template that was rolled back to gets the newest revision', () => {
  const numbered = (revision: string): Stored<ReplicaSet> => {
    const { metadata, ...rest } = set(0, 0);
    return { ...rest, metadata: { ...metadata, annotations: { [revisionAnnotation]: revision } } };
  };
  expect(revisionFor({ current: undefined, old: [] })).toBe('1');
  expect(revisionFor({ current: undefined, old: [numbered('1'), numbered('2')] })).toBe('3');
  expect(revisionFor({ current: numbered('2'), old: [numbered('1')] })).toBe('2');
  expect(revisionFor({ current: numbered('1'), old: [numbered('2')] })).toBe('3');
});
