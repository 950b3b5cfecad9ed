import { expect, it } from 'vitest';
import { startFakeEtcd } from '../../../test/support/etcd-fake.ts';
import { connectionTo, type EtcdConnection } from '../../etcd/client.ts';
import { connectionsWhileLeading, whileLeadingEtcd } from './fenced-etcd.ts';

/** The methods of a real connection that reach etcd while `leads` says so. */
async function reaching(leads: boolean): Promise<readonly string[]> {
  const real = connectionTo({ url: 'http://127.0.0.1:1' });
  const reached: string[] = [];
  const entries = Object.keys(real).map((name) => [name, async () => void reached.push(name)]);
  const fenced = whileLeadingEtcd(Object.fromEntries(entries) as EtcdConnection, () => leads);
  for (const method of Object.values(fenced) as (() => Promise<void>)[]) await method().catch(() => undefined);
  real.close();
  return reached;
}

it('every change of etcd is refused once the lease is not surely ours', async () => {
  const reached = await reaching(false);
  const refused = (await reaching(true)).filter((name) => !reached.includes(name));
  expect(refused).toEqual(
    expect.arrayContaining(['memberAdd', 'memberRemove', 'memberPromote', 'memberUpdate', 'moveLeader', 'downgrade']),
  );
  expect(refused).toEqual(expect.arrayContaining(['put', 'deleteRange', 'compact', 'defragment']));
  expect(reached).toEqual(expect.arrayContaining(['status', 'memberList', 'linearizableRead']));
});

it.each([
  { leads: true, asked: ['status', 'add', 'remove'] },
  { leads: false, asked: ['status', 'status'] },
])('a connection sends questions, and changes only while it leads: $leads', async ({ leads, asked }) => {
  const reached: string[] = [];
  await using fake = await startFakeEtcd({
    maintenance: { status: () => ({ version: '3.6.0', asked: reached.push('status') }) },
    cluster: {
      memberAdd: () => ({ member: { id: BigInt(reached.push('add')) } }),
      memberRemove: () => ({ members: [], asked: reached.push('remove') }),
    },
  });
  using connections = connectionsWhileLeading(() => leads);
  const etcd = connections.to({ url: fake.url });
  await etcd.memberAdd(['http://a'], { learner: true }).catch(() => undefined);
  await etcd.memberRemove(1n).catch(() => undefined);
  if (!leads) await etcd.status();
  expect(reached).toEqual(asked);
});
