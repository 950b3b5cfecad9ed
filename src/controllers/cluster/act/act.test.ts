import { expect, it } from 'vitest';
import { healthy } from '../../../../test/support/worlds.ts';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import { act as acting, type MemberStep } from '../../../core/cluster/plan/step.ts';
import { Failure } from '../../../std/failure.ts';
import type { ControllerContext } from '../../shared/context.ts';
import { act } from './act.ts';

const object = {
  ...{ apiVersion: 'etcd.database.coreos.com/v1beta2', kind: 'EtcdCluster' },
  metadata: { name: 'db', namespace: 'default', uid: 'uid-1', resourceVersion: '1', creationTimestamp: '' },
  spec: { size: 3, version: '3.5.35' },
};

/** Returns the requests of a pass with these steps to etcd and the API server. */
async function asked(steps: readonly MemberStep[], patch: () => Promise<void>) {
  const read = coreos.read(object);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const { blueprint } = read.value;
  const world = healthy(3);
  const done: string[] = [];
  const nothing = { by: () => [], get: () => undefined };
  const claim = { metadata: { ...object.metadata, name: 'db-0', uid: 'claim', ownerReferences: [{ uid: 'uid-1' }] } };
  const claims = { ...nothing, by: (index: string) => (index === 'owner' ? [claim] : []) };
  const writer = {
    create: async () => undefined,
    patch,
    remove: async ({ plural }: { plural: string }) => void done.push(`remove ${plural}`),
  };
  const connection = {
    memberList: async () => world.membership.seen && world.membership.value.members,
    memberRemove: async () => void done.push('remove member'),
  };
  const context = {
    ...{
      dialect: coreos,
      writer: () => writer,
      recordEvent: () => undefined,
      log: () => undefined,
      now: () => new Date(0),
    },
    caches: { clusters: nothing, pods: nothing, claims, services: nothing, budgets: undefined },
  };
  const observed = { world, blueprint, podWith: () => undefined, connectionTo: () => connection };
  const verdict = acting('ScalingDown', 'x', ...steps);
  const decided = { read: read.value, observed, verdict } as never;
  const failure = await act(object, decided, context as unknown as ControllerContext).then(
    (aside) => ({ aside: aside?.message }),
    (thrown: Error) => ({ failure: thrown.message }),
  );
  return { done, ...failure };
}

const refused = async (): Promise<void> => {
  throw new Failure('forbidden', 'a policy says no');
};
const [first] = healthy(3).memberPods;
const stop: MemberStep = { kind: 'stop-member-pod', name: first?.name ?? ('db-0' as never), uid: 'pod' };
const remove: MemberStep = { kind: 'remove-member', id: '3' as never, name: 'db-2' as never, because: 'surplus' };

it('a PVC that cannot be written blocks only the removal of a live member', async () => {
  expect(await asked([stop], refused)).toEqual({ done: ['remove pods'], aside: 'a policy says no' });
  expect(await asked([remove], refused)).toEqual({ done: [], failure: 'a policy says no' });
});
