import { expect, it } from 'vitest';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import type { KubeObject, Stored } from '../../../kube/object.ts';
import { deleteSecrets, writeOwnSecret } from './secrets.ts';
import type { StepContext } from './step-context.ts';

const read = coreos.read({ metadata: { name: 'db', namespace: 'default', uid: 'u' }, spec: { size: 3 } });
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const { blueprint } = read.value;
const signal = new AbortController().signal;

const secretOf = (owner: string): Stored<KubeObject> =>
  ({
    metadata: { name: 'db-member-tls', uid: 's', resourceVersion: '7', ownerReferences: [{ uid: owner }] },
    data: { old: '' },
  }) as never;

it('the content of a Secret is replaced only at the version that was read', async () => {
  const bodies: unknown[] = [];
  const patch = async (...[, , { body }]: [unknown, unknown, { body: unknown }]) => void bodies.push(body);
  const stored = secretOf('u');
  const own = { name: 'db-member-tls', files: {}, annotations: {}, stored };
  await writeOwnSecret(own, { files: { 'ca.crt': 'A' } }, { blueprint, signal, writer: { patch } as never });
  expect(bodies).toEqual([
    { metadata: { uid: 's', resourceVersion: '7', annotations: {} }, data: { old: null, 'ca.crt': 'QQ==' } },
  ]);
});

it.each([
  ['of the cluster is deleted only at the version that was read', 'u', [{ uid: 's', resourceVersion: '7' }]],
  ['of another owner is not deleted', 'another', []],
])('an unused Secret %s', async (_, owner, expected) => {
  const removed: unknown[] = [];
  const remove = async (...[, , how]: [unknown, unknown, { preconditions: object }]) =>
    void removed.push(how.preconditions);
  const controller = { client: { get: async () => secretOf(owner) } };
  const context = { blueprint, controller, writer: { remove }, signal } as unknown as StepContext;
  await deleteSecrets({ kind: 'drop-secrets', names: ['db-member-tls'] }, context);
  expect(removed).toEqual(expected);
});
