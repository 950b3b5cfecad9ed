import { expect, it } from 'vitest';
import type { ClusterDialect } from '../../../apis/common/dialect.ts';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import { improbable } from '../../../apis/improbable-v1alpha1/dialect.ts';
import { spareNames } from './free-names.ts';

const podsAndPvcs = ['db-0', 'db-2'];
const nameIn = (object: object): string => (object as { metadata: { name: string } }).metadata.name;
const context = { randomName: (cluster: string) => `${cluster}-random` };

function namesIn(dialect: ClusterDialect, status: object): readonly string[] {
  return sparedIn(dialect, status).spareNames;
}

function sparedIn(dialect: ClusterDialect, status: object, ...peers: readonly object[]): ReturnType<typeof spareNames> {
  const metadata = { name: 'db', namespace: 'default', uid: 'u' };
  const read = dialect.read({ metadata, spec: { size: 3, replicas: 3 }, status });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const get = (key: string): unknown => peers.find((each) => key === `default/${nameIn(each)}`);
  return spareNames(read.value, podsAndPvcs, { ...context, peers: { store: { get } } as never });
}

it('joining members get the lowest numbers that no pod, PVC or member has', () => {
  expect(namesIn(improbable, {}).slice(0, 2)).toEqual(['db-1', 'db-3']);
  expect(namesIn(improbable, { members: [{ name: 'db-1', id: 'a' }] })[0]).toBe('db-3');
  expect(namesIn(improbable, {})).toHaveLength(9);
});

it('a formed cluster skips the numbers of foreign EtcdPeers', () => {
  const made = (name: string, uid: string): object => ({ metadata: { name, ownerReferences: [{ uid }] } });
  const peers = [made('db-1', 'u'), { metadata: { name: 'db-3' } }, made('db-4', 'another'), made('db-6', 'another')];
  const status = { clusterId: 'a', members: [{ name: 'db-1', id: 'a' }] };
  expect(sparedIn(improbable, status, ...peers)).toMatchObject({
    spareNames: ['db-5', 'db-7', 'db-8', 'db-9', 'db-10', 'db-11', 'db-12', 'db-13', 'db-14'],
    foreignPeers: ['db-3', 'db-4'],
  });
  expect(sparedIn(improbable, {}, ...peers).spareNames.slice(0, 2)).toEqual(['db-1', 'db-3']);
});

it('joining members of the coreos API get random names', () => {
  expect(namesIn(coreos, {})[0]).toBe('db-random');
});
