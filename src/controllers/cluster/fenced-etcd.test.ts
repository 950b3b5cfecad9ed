import type { DescService } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { type FakeAnswers, startFakeEtcd } from '../../../test/support/etcd-fake.ts';
import { Caller } from '../../etcd/call.ts';
import type { EtcdConnection } from '../../etcd/client.ts';
import { Auth, Cluster, KV, Maintenance, Watch } from '../../etcd/gen/etcd_pb.ts';
import { Line } from '../../etcd/line.ts';
import { usualSession } from '../../etcd/session.ts';
import { Failure } from '../../std/failure.ts';
import { connectionsWhileLeading } from './fenced-etcd.ts';

type Method = Exclude<keyof EtcdConnection, 'endpoint' | 'close' | 'rest'>;

/** Every method that sends something, and what it is called with. */
const calls: Readonly<Record<Method, readonly unknown[]>> = {
  status: [],
  alarms: [],
  hashKV: [],
  snapshot: [],
  memberList: [],
  linearizableRead: [],
  get: ['key'],
  list: [{ key: 'key' }],
  count: [{ key: 'key' }],
  watch: [{ key: 'key' }],
  authenticate: ['root', 'password'],
  put: ['key', 'value'],
  putIfAbsent: ['key', 'value'],
  deleteRange: [{ key: 'key' }],
  compact: [1n],
  memberAdd: [['http://a'], { learner: true }],
  memberRemove: [1n],
  memberUpdate: [1n, ['http://a']],
  memberPromote: [1n],
  disarm: [1n, 'corrupt'],
  defragment: [],
  moveLeader: [1n],
  downgrade: ['enable', '3.5.0'],
};

const services: Readonly<Record<keyof FakeAnswers, DescService>> = {
  ...{ auth: Auth, cluster: Cluster, kv: KV, maintenance: Maintenance, watch: Watch },
};
const allRequests = Object.values(services).flatMap(({ methods }) => methods.map(({ name }) => name));

/** A service that answers every request with nothing, and tells which it was. */
function answering({ methods }: DescService, onRequest: (name: string) => void): object {
  const ofMethod = ({ localName, methodKind, name }: DescService['methods'][number]) => {
    const unary = () => (onRequest(name), name === 'Status' ? { version: '3.6.0' } : {});
    async function* stream(): AsyncGenerator<object> {
      yield unary();
    }
    return [localName, methodKind === 'unary' ? unary : stream];
  };
  return Object.fromEntries(methods.map(ofMethod));
}

async function finish(answer: unknown): Promise<void> {
  const result = await answer;
  const isStream = typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
  if (isStream) for await (const _ of result as AsyncIterable<unknown>) continue;
}

/** The requests that reach etcd by each method of a real connection. */
async function reaching(leads: boolean): Promise<Readonly<Record<string, readonly string[]>>> {
  let requests: string[] = [];
  const answers = Object.entries(services).map(([name, service]) => [
    name,
    answering(service, (request) => requests.push(request)),
  ]);
  await using fake = await startFakeEtcd(Object.fromEntries(answers) as FakeAnswers);
  using connections = connectionsWhileLeading(() => leads);
  const etcd = connections.to({ url: fake.url });
  const methods = Object.entries(etcd).filter(([name, method]) => typeof method === 'function' && !isEnd.has(name));
  expect(methods.map(([name]) => name).toSorted()).toEqual(Object.keys(calls).toSorted());
  const reached: Record<string, readonly string[]> = {};
  for (const [name, method] of methods) {
    requests = [];
    const call = async (): Promise<unknown> => Reflect.apply(method as () => unknown, etcd, calls[name as Method]);
    await finish(call()).catch(() => undefined);
    reached[name] = requests;
  }
  return reached;
}

const isEnd: ReadonlySet<string> = new Set(['close', 'rest']);

it('while this operator leads, the methods of a connection send every request that there is', async () => {
  const reached = await reaching(true);
  expect(new Set(Object.values(reached).flat())).toEqual(new Set(allRequests));
});

it('once the lease is not surely ours, only questions reach etcd', async () => {
  expect(await reaching(false)).toEqual({
    ...{ status: ['Status'], alarms: ['Alarm'], hashKV: ['HashKV'], snapshot: ['Snapshot'] },
    ...{ memberList: ['Range', 'MemberList'], linearizableRead: ['Range'], authenticate: ['Authenticate'] },
    ...{ get: ['Range'], list: ['Range'], count: ['Range'], watch: ['Range', 'Watch'] },
    ...{ put: [], putIfAbsent: [], deleteRange: [], compact: [] },
    ...{ memberAdd: ['Status'], memberRemove: [], memberUpdate: [], memberPromote: [] },
    ...{ disarm: [], defragment: [], moveLeader: [], downgrade: [] },
  });
});

it('a stream that is not known to change nothing is not opened once the lease is not surely ours', async () => {
  await using fake = await startFakeEtcd({});
  const confirmChange = () => {
    throw new Failure('conflict', 'this operator does not lead any more');
  };
  const line = new Line({ url: fake.url }, usualSession);
  const caller = new Caller(line, { usualMillis: 5_000, confirmChange });
  const upload = { ...Maintenance.method.snapshot, name: 'Upload' };
  await expect(finish(caller.stream(upload, {}))).rejects.toMatchObject({ kind: 'conflict' });
  expect(fake.connections()).toBe(0);
  line.close();
});
