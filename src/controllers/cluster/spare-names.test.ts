import { expect, it } from 'vitest';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import type { ClusterDialect } from '../../dialects/dialect.ts';
import { improbable } from '../../dialects/improbable-v1alpha1/dialect.ts';
import { spareNames } from './spare-names.ts';

const bodies = ['db-0', 'db-2'];
const nameIn = (object: object): string => (object as { metadata: { name: string } }).metadata.name;
const tools = { randomName: (cluster: string) => `${cluster}-by-chance` };

function namesIn(dialect: ClusterDialect, status: object): readonly string[] {
  return sparedIn(dialect, status).spareNames;
}

function sparedIn(dialect: ClusterDialect, status: object, ...peers: readonly object[]): ReturnType<typeof spareNames> {
  const metadata = { name: 'db', namespace: 'default', uid: 'u' };
  const read = dialect.read({ metadata, spec: { size: 3, replicas: 3 }, status });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const get = (key: string): unknown => peers.find((each) => key === `default/${nameIn(each)}`);
  return spareNames(read.value, bodies, { ...tools, peers: { store: { get } } as never });
}

it('newcomers get the lowest numbers that neither a body nor a member has', () => {
  expect(namesIn(improbable, {}).slice(0, 2)).toEqual(['db-1', 'db-3']);
  expect(namesIn(improbable, { members: [{ name: 'db-1', id: 'a' }] })[0]).toBe('db-3');
  expect(namesIn(improbable, {})).toHaveLength(9);
});

it('pass over the number of a peer that somebody else has made, once there is a cluster', () => {
  const made = (name: string, uid: string): object => ({ metadata: { name, ownerReferences: [{ uid }] } });
  const peers = [made('db-1', 'u'), { metadata: { name: 'db-3' } }, made('db-4', 'another'), made('db-6', 'another')];
  const status = { clusterId: 'a', members: [{ name: 'db-1', id: 'a' }] };
  expect(sparedIn(improbable, status, ...peers)).toMatchObject({
    spareNames: ['db-5', 'db-7', 'db-8', 'db-9', 'db-10', 'db-11', 'db-12', 'db-13', 'db-14'],
    strangePeers: ['db-3', 'db-4'],
  });
  expect(sparedIn(improbable, {}, ...peers).spareNames.slice(0, 2)).toEqual(['db-1', 'db-3']);
});

it('or names by chance, in the other dialect', () => {
  expect(namesIn(coreos, {})[0]).toBe('db-by-chance');
});
