import { expect, it } from 'vitest';
import { coreos } from '../../apis/coreos-v1beta2/dialect.ts';
import { failureOfAnswer } from '../../kube/errors.ts';
import { nameConflictFor } from './name-conflicts.ts';

const read = coreos.read({ metadata: { name: 'db', namespace: 'default', uid: 'u' }, spec: { size: 3 } });
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const found = { target: { object: undefined, read: read.value }, isGone: false } as never;
const context = {
  clusters: { dialect: { kind: 'EtcdCluster' } },
  dialect: { group: 'g' },
  otherClusterKinds: [],
} as never;
const intent = { namespace: 'default', cluster: 'db', uid: 'r', into: 'new' } as never;

const conflictWith = (claim: string) => {
  const podsAndPvcs = { pods: [], claims: [{ metadata: { name: claim, namespace: 'default', uid: 'c' } }] } as never;
  return nameConflictFor(intent, { found, podsAndPvcs }, context);
};

it.each(['db-2', 'db-2-v2'])('a PVC %s without labels keeps a restore from creating the cluster db', async (claim) => {
  expect(await conflictWith(claim)).toContain(`PersistentVolumeClaim ${claim} of an earlier cluster "db" still exists`);
});

it.each(['db-x', 'db2-2', 'db-2-v2-0', 'other-2-v2'])(
  'a PVC %s without labels does not keep a restore from creating the cluster db',
  async (claim) => {
    expect(await conflictWith(claim)).toBeUndefined();
  },
);

/** The other API answers 404 with this text. */
function conflictWithOtherApi(text: string): Promise<string | undefined> {
  const get = () => Promise.reject(failureOfAnswer('get etcdclusters default/db', 404, { text }));
  const asking = { ...(context as object), client: { get }, otherClusterKinds: [{ group: 'other' }] } as never;
  return nameConflictFor(intent, { found, podsAndPvcs: { pods: [], claims: [] } }, asking);
}

it('a name is free if the CRD of the other API is not installed', async () => {
  expect(await conflictWithOtherApi('404 page not found\n')).toBeUndefined();
});

it('a name conflict is unknown if a proxy answers 404 in place of the API server', async () => {
  await expect(conflictWithOtherApi('<html>no such host</html>')).rejects.toThrow('no such host');
});
