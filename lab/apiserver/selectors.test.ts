import { expect, it } from 'vitest';
import type { KubeObject } from './object.ts';
import { fieldSelector } from './selectors.ts';

const selected = (collection: string, text: string, object: object): boolean =>
  fieldSelector(text, { collection, group: '', version: 'v1', kind: '' })(object as KubeObject);

it('a field selector on an omitted boolean field uses its default', () => {
  expect(selected('/nodes', 'spec.unschedulable=false', { spec: {} })).toBe(true);
  expect(selected('/nodes', 'spec.unschedulable!=true', { spec: { unschedulable: true } })).toBe(false);
  expect(selected('/pods', 'spec.hostNetwork=false', { spec: {} })).toBe(true);
});

it('a field selector on a renamed field reads the stored field', () => {
  expect(selected('batch/jobs', 'status.successful=1', { status: { succeeded: 1 } })).toBe(true);
  expect(selected('batch/jobs', 'status.successful=0', { status: {} })).toBe(true);
  expect(selected('/events', 'source=kubelet', { source: { component: 'kubelet' } })).toBe(true);
  const newer = { collection: '/events', group: 'events.k8s.io', version: 'v1', kind: 'Event' };
  const pod = { involvedObject: { name: 'p' } } as unknown as KubeObject;
  expect(fieldSelector('regarding.name=p', newer)(pod)).toBe(true);
  expect(selected('/events', 'source=kubelet', { source: {}, reportingComponent: 'kubelet' })).toBe(true);
});
