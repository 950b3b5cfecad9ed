import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { type FakeEtcd, startFakeEtcd } from '../../test/support/etcd-fake.ts';
import { Failure } from '../std/failure.ts';
import { EtcdConnections } from './connections.ts';
import { AlarmRequest_AlarmAction } from './gen/etcd_pb.ts';

const answers = { maintenance: { status: () => ({ version: '3.6.0' }) } };

describe('a change', () => {
  it('is not sent if leadership was lost while the version of etcd was asked for it', async () => {
    let leads = true;
    const added: unknown[] = [];
    const status = () => {
      leads = false; // the process stood still here
      return { version: '3.6.0' };
    };
    const memberAdd = (request: object) => ({ member: { id: BigInt(added.push(request)) } });
    await using fake = await startFakeEtcd({ maintenance: { status }, cluster: { memberAdd } });
    const confirmChange = () => {
      if (!leads) throw new Failure('conflict', 'this operator does not lead any more');
    };
    using connections = new EtcdConnections({ confirmChange });
    const adding = connections.to({ url: fake.url }).memberAdd(['http://a'], { learner: true });
    await expect(adding).rejects.toMatchObject({ kind: 'conflict' });
    expect(added).toEqual([]);
  });

  it('is not sent if leadership was lost while a token was asked for it, and questions are', async () => {
    let leads = true;
    const removed: unknown[] = [];
    const authenticate = () => {
      leads = false;
      return { token: 'root' };
    };
    const memberRemove = (request: object) => ({ members: [], removed: removed.push(request) });
    const confirmChange = () => {
      if (!leads) throw new Failure('conflict', 'this operator does not lead any more');
    };
    await using fake = await startFakeEtcd({ auth: { authenticate }, cluster: { memberRemove }, ...answers });
    using connections = new EtcdConnections({ confirmChange });
    const etcd = connections.to({ url: fake.url, credentials: { user: 'root', password: 'secret' } });
    await expect(etcd.memberRemove(1n)).rejects.toMatchObject({ kind: 'conflict' });
    expect((await etcd.status()).version).toBe('3.6.0');
    expect(removed).toEqual([]);
  });

  it('of alarms is not sent without leadership, and the question for them is', async () => {
    const asked: unknown[] = [];
    const alarm = ({ action }: { action: number }) => ({ alarms: [], asked: asked.push(action) });
    await using fake = await startFakeEtcd({ maintenance: { alarm } });
    const confirmChange = () => {
      throw new Failure('conflict', 'this operator does not lead any more');
    };
    using connections = new EtcdConnections({ confirmChange });
    const etcd = connections.to({ url: fake.url });
    await expect(etcd.disarm(1n, 'no-space')).rejects.toMatchObject({ kind: 'conflict' });
    expect(await etcd.alarms()).toEqual([]);
    expect(asked).toEqual([AlarmRequest_AlarmAction.GET]);
  });
});

describe('connections that are kept', () => {
  it('are the same for the same member, and others for others', () => {
    using connections = new EtcdConnections();
    const [a, b] = [{ url: 'http://a:1' }, { url: 'http://b:1' }];
    expect(connections.to(a)).toBe(connections.to({ ...a }));
    expect(connections.to(a)).not.toBe(connections.to(b));
    expect(connections.to({ ...a, dial: { host: 'b', port: 1 } })).not.toBe(connections.to(a));
    expect(connections.size).toBe(3);
  });

  it('are made anew when certificates or passwords change, and the old ones go', async () => {
    await using fake = await startFakeEtcd(answers);
    using connections = new EtcdConnections();
    const old = connections.to({ url: fake.url, tls: { ca: 'old' } });
    await old.status();
    const renewed = connections.to({ url: fake.url, tls: { ca: 'new' } });
    expect(renewed).not.toBe(old);
    expect(connections.to({ url: fake.url, tls: { ca: 'new' } })).toBe(renewed);
    expect(connections.to({ url: fake.url, credentials: { user: 'a', password: 'b' } })).not.toBe(renewed);
    expect(connections.size).toBe(1);
    await expect.poll(fake.openConnections).toBe(0);
  });

  it('are no more than the limit: the one that was not asked for longest goes, and still works for whoever has it', async () => {
    await using fake = await startFakeEtcd(answers);
    using connections = new EtcdConnections({ limit: 2 });
    const first = connections.to(fake);
    await first.status();
    connections.to({ url: 'http://b:1' });
    expect(connections.to(fake)).toBe(first);
    connections.to({ url: 'http://c:1' });
    expect(connections.to(fake)).toBe(first);
    connections.to({ url: 'http://d:1' });
    connections.to({ url: 'http://e:1' });
    expect(connections.size).toBe(2);
    await expect.poll(fake.openConnections).toBe(0);
    await first.status();
    first.close();
  });

  it('of one owner go with it', async () => {
    await using fake = await startFakeEtcd(answers);
    using connections = new EtcdConnections();
    await connections.to({ url: fake.url, owner: 'n/db' }).status();
    connections.to({ url: 'http://b:1', owner: 'n/db' });
    connections.to({ url: 'http://c:1', owner: 'n/other' });
    connections.forgetAll('n/db');
    expect(connections.size).toBe(1);
    await expect.poll(fake.openConnections).toBe(0);
  });

  it('of members that are gone go: the password is not sent to their addresses for a token', async () => {
    const asked: string[] = [];
    const authenticate = (who: string) => () => ({ token: `${who} ${asked.push(who)}` });
    const learner = () => {
      throw new ConnectError('etcdserver: rpc not supported for learner', Code.FailedPrecondition);
    };
    await using gone = await startFakeEtcd({ auth: { authenticate: authenticate('gone') } });
    await using voter = await startFakeEtcd({ auth: { authenticate: authenticate('voter') } });
    await using joining = await startFakeEtcd({ auth: { authenticate: learner }, ...answers });
    using connections = new EtcdConnections();
    const credentials = { user: 'root', password: 'secret', realm: 'u' };
    const to = ({ url }: FakeEtcd) => connections.to({ url, credentials, owner: 'n/db' });
    to(gone);
    const there = to(joining);
    connections.keepOnly('n/db', [to(voter), there]);
    await there.status();
    expect(asked).toEqual(['voter']);
  });

  it('end when they are closed, and are not given out any more', async () => {
    await using fake = await startFakeEtcd(answers);
    const connections = new EtcdConnections();
    const etcd = connections.to(fake);
    await etcd.status();
    connections.close();
    await expect.poll(fake.openConnections).toBe(0);
    await expect(etcd.status()).rejects.toMatchObject({ kind: 'unreachable' });
    expect(() => connections.to(fake)).toThrow('closed');
  });
});
