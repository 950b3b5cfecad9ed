import { expect, it } from 'vitest';
import { targetOf } from './targets.ts';

const groupOf = (target: string): string => targetOf(target).resource.group;

it.each([
  ['pod/db-0', 'pods', 'db-0', undefined],
  ['pvc/db-0', 'persistentvolumeclaims', 'db-0', undefined],
  ['pods -l app=etcd,etcd_cluster=db', 'pods', undefined, 'app=etcd,etcd_cluster=db'],
  ['secrets', 'secrets', undefined, undefined],
  ['etcdbackupschedules.etcd.improbable.io/nightly', 'etcdbackupschedules', 'nightly', undefined],
])('%s selects the objects that kubectl selects', (target, ...[plural, name, labelSelector]) => {
  expect(targetOf(target)).toMatchObject({ resource: { plural }, name, labelSelector });
});

it('a short name that both APIs have means the coreos API, as it does for kubectl', () => {
  expect(groupOf('etcdcluster/db')).toBe('etcd.database.coreos.com');
  expect(groupOf('etcdclusters.etcd.improbable.io/db')).toBe('etcd.improbable.io');
});

it('an unknown kind or form is refused', () => {
  expect(() => targetOf('widgets/a')).toThrow('no kind widgets');
  expect(() => targetOf('pods --all')).toThrow('unsupported target');
  expect(() => targetOf('pod/a -l b=c')).toThrow('unsupported target');
});
