import { expect, it } from 'vitest';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import { failureOf } from '../../kube/errors.ts';
import { takenFor } from './taken.ts';

const read = coreos.read({ metadata: { name: 'db', namespace: 'default', uid: 'u' }, spec: { size: 3 } });
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const found = { target: { object: undefined, read: read.value }, isGone: false } as never;
const tools = { clusters: { dialect: { kind: 'EtcdCluster' } }, dialect: { group: 'g' }, rivals: [] } as never;
const intent = { namespace: 'default', cluster: 'db', uid: 'r', into: 'new' } as never;

const takenBy = (claim: string) => {
  const bodies = { pods: [], claims: [{ metadata: { name: claim, namespace: 'default', uid: 'c' } }] } as never;
  return takenFor(intent, { found, bodies }, tools);
};

it.each(['db-2', 'db-2-v2'])('a PVC %s without labels keeps a restore from making the cluster db', async (claim) => {
  expect(await takenBy(claim)).toContain(`volume ${claim} of an earlier cluster "db" is still there`);
});

it.each(['db-x', 'db2-2', 'db-2-v2-0', 'other-2-v2'])('a PVC %s without labels does not', async (claim) => {
  expect(await takenBy(claim)).toBeUndefined();
});

/** The other API answers 404 with this text. */
function takenBeside(text: string): Promise<string | undefined> {
  const get = () => Promise.reject(failureOf('get etcdclusters default/db', 404, { text }));
  const asking = { ...(tools as object), client: { get }, rivals: [{ group: 'other' }] } as never;
  return takenFor(intent, { found, bodies: { pods: [], claims: [] } }, asking);
}

it('a name is free if the kind of the other API is not defined', async () => {
  expect(await takenBeside('404 page not found\n')).toBeUndefined();
});

it('a name is not known to be free if a proxy answers 404 in place of the API server', async () => {
  await expect(takenBeside('<html>no such host</html>')).rejects.toThrow('no such host');
});
