import type { DescService } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { type FakeAnswers, startFakeEtcd } from '../../../test/support/etcd-fake.ts';
import { Caller } from '../../etcd/call.ts';
import type { EtcdConnection } from '../../etcd/client.ts';
import { MemberConnection } from '../../etcd/connection.ts';
import { Auth, Cluster, KV, Maintenance, Watch } from '../../etcd/gen/etcd_pb.ts';
import { defaultSession } from '../../etcd/session.ts';
import { Failure } from '../../std/failure.ts';
import { connectionsWhileLeading } from './fenced-etcd.ts';

type Method = Exclude<keyof EtcdConnection, 'endpoint' | 'close' | 'closeWhenIdle'>;

/** Every method that sends a request, with arguments. */
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

/** A service that reports every request and returns an empty answer. */
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

/** Returns the requests that each method of a real connection sends to etcd. */
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

const isEnd: ReadonlySet<string> = new Set(['close', 'closeWhenIdle']);

it('the leading operator can send every request of etcd', async () => {
  const reached = await reaching(true);
  expect(new Set(Object.values(reached).flat())).toEqual(new Set(allRequests));
});

it('an operator without the lease sends only reads to etcd', async () => {
  expect(await reaching(false)).toEqual({
    ...{ status: ['Status'], alarms: ['Alarm'], hashKV: ['HashKV'], snapshot: ['Snapshot'] },
    ...{ memberList: ['Range', 'MemberList'], linearizableRead: ['Range'], authenticate: ['Authenticate'] },
    ...{ get: ['Range'], list: ['Range'], count: ['Range'], watch: ['Range', 'Watch'] },
    ...{ put: [], putIfAbsent: [], deleteRange: [], compact: [] },
    ...{ memberAdd: ['Status'], memberRemove: [], memberUpdate: [], memberPromote: [] },
    ...{ disarm: [], defragment: [], moveLeader: [], downgrade: [] },
  });
});

it('an operator without the lease opens no stream that may change data', async () => {
  await using fake = await startFakeEtcd({});
  const confirmWrite = () => {
    throw new Failure('conflict', 'this operator no longer holds the leader lease');
  };
  const connection = new MemberConnection({ url: fake.url }, defaultSession);
  const caller = new Caller(connection, { defaultMillis: 5_000, confirmWrite });
  const upload = { ...Maintenance.method.snapshot, name: 'Upload' };
  await expect(finish(caller.stream(upload, {}))).rejects.toMatchObject({ kind: 'conflict' });
  expect(fake.connections()).toBe(0);
  connection.close();
});
