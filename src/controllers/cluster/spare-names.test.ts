import { expect, it } from 'vitest';
import { samplePod } from '../../../test/support/sample-objects.ts';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import type { ClusterDialect } from '../../dialects/dialect.ts';
import { improbable } from '../../dialects/improbable-v1alpha1/dialect.ts';
import { spareNames } from './spare-names.ts';

const bodies = [samplePod('db-0', 1), samplePod('db-2', 1, { deletionTimestamp: '2026-01-01T00:00:00Z' })];
const tools = { randomName: (cluster: string) => `${cluster}-by-chance` };

function namesIn(dialect: ClusterDialect, status: object): readonly string[] {
  const metadata = { name: 'db', namespace: 'default', uid: 'u' };
  const read = dialect.read({ metadata, spec: { size: 3, replicas: 3 }, status });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return spareNames(read.value, bodies, tools);
}

it('newcomers get the lowest numbers that neither a body nor a member has', () => {
  expect(namesIn(improbable, {}).slice(0, 2)).toEqual(['db-1', 'db-3']);
  expect(namesIn(improbable, { members: [{ name: 'db-1', id: 'a' }] })[0]).toBe('db-3');
  expect(namesIn(improbable, {})).toHaveLength(9);
});

it('or names by chance, in the other dialect', () => {
  expect(namesIn(coreos, {})[0]).toBe('db-by-chance');
});
