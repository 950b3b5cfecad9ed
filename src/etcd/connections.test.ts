import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { type FakeEtcd, startFakeEtcd } from '../../test/support/etcd-fake.ts';
import { Failure } from '../std/failure.ts';
import { EtcdConnections } from './connections.ts';
import { AlarmRequest_AlarmAction } from './gen/etcd_pb.ts';

const answers = { maintenance: { status: () => ({ version: '3.6.0' }) } };

describe('a write', () => {
  it('is not sent if leadership is lost while the version of etcd is read', async () => {
    let leads = true;
    const added: unknown[] = [];
    const status = () => {
      leads = false; // the process was paused here
      return { version: '3.6.0' };
    };
    const memberAdd = (request: object) => ({ member: { id: BigInt(added.push(request)) } });
    await using fake = await startFakeEtcd({ maintenance: { status }, cluster: { memberAdd } });
    const confirmWrite = () => {
      if (!leads) throw new Failure('conflict', 'this operator no longer holds the leader lease');
    };
    using connections = new EtcdConnections({ confirmWrite });
    const adding = connections.to({ url: fake.url }).memberAdd(['http://a'], { learner: true });
    await expect(adding).rejects.toMatchObject({ kind: 'conflict' });
    expect(added).toEqual([]);
  });

  it('is not sent if leadership is lost while a token is requested; reads are sent', async () => {
    let leads = true;
    const removed: unknown[] = [];
    const authenticate = () => {
      leads = false;
      return { token: 'root' };
    };
    const memberRemove = (request: object) => ({ members: [], removed: removed.push(request) });
    const confirmWrite = () => {
      if (!leads) throw new Failure('conflict', 'this operator no longer holds the leader lease');
    };
    await using fake = await startFakeEtcd({ auth: { authenticate }, cluster: { memberRemove }, ...answers });
    using connections = new EtcdConnections({ confirmWrite });
    const etcd = connections.to({ url: fake.url, credentials: { user: 'root', password: 'secret' } });
    await expect(etcd.memberRemove(1n)).rejects.toMatchObject({ kind: 'conflict' });
    expect((await etcd.status()).version).toBe('3.6.0');
    expect(removed).toEqual([]);
  });

  it('of alarms is not sent without leadership; a list of alarms is', async () => {
    const asked: unknown[] = [];
    const alarm = ({ action }: { action: number }) => ({ alarms: [], asked: asked.push(action) });
    await using fake = await startFakeEtcd({ maintenance: { alarm } });
    const confirmWrite = () => {
      throw new Failure('conflict', 'this operator no longer holds the leader lease');
    };
    using connections = new EtcdConnections({ confirmWrite });
    const etcd = connections.to({ url: fake.url });
    await expect(etcd.disarm(1n, 'no-space')).rejects.toMatchObject({ kind: 'conflict' });
    expect(await etcd.alarms()).toEqual([]);
    expect(asked).toEqual([AlarmRequest_AlarmAction.GET]);
  });
});

describe('EtcdConnections', () => {
  it('returns the same connection for the same member', () => {
    using connections = new EtcdConnections();
    const [a, b] = [{ url: 'http://a:1' }, { url: 'http://b:1' }];
    expect(connections.to(a)).toBe(connections.to({ ...a }));
    expect(connections.to(a)).not.toBe(connections.to(b));
    expect(connections.to({ ...a, dial: { host: 'b', port: 1 } })).not.toBe(connections.to(a));
    expect(connections.size).toBe(3);
  });

  it('opens a new connection when certificates or passwords change, and closes the old one', async () => {
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

  it('closes the least recently used connection above the limit; its holder can still use it', async () => {
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
    await expect.poll(fake.openConnections).toBe(0);
    await first.status();
    first.close();
  });

  it('closes the connections of owners that rest, beyond a limit; they keep their tokens', async () => {
    let tokens = 0;
    const authenticate = () => ({ token: `token ${++tokens}` });
    const start = (): Promise<FakeEtcd> => startFakeEtcd({ ...answers, auth: { authenticate } });
    await using one = await start();
    await using other = await start();
    using connections = new EtcdConnections({ restingLimit: 1 });
    const credentials = { user: 'root', password: 'secret' };
    const to = ({ url }: FakeEtcd) => connections.to({ url, owner: url, credentials });
    await to(one).status();
    await to(other).status();
    connections.rest(one.url);
    expect([one.openConnections(), other.openConnections()]).toEqual([1, 1]);
    connections.rest(other.url);
    await expect.poll(one.openConnections).toBe(0);
    expect(other.openConnections()).toBe(1);
    await to(one).status();
    expect({ tokens, connections: one.connections() }).toEqual({ tokens: 2, connections: 2 });
  });

  it('keeps a connection open that is used again after a rest', async () => {
    await using one = await startFakeEtcd(answers);
    await using other = await startFakeEtcd(answers);
    using connections = new EtcdConnections({ restingLimit: 1 });
    const to = ({ url }: FakeEtcd) => connections.to({ url, owner: url });
    await to(one).status();
    connections.rest(one.url);
    await to(one).status();
    await to(other).status();
    connections.rest(other.url);
    await to(one).status();
    expect(one.connections()).toBe(1);
  });

  it('forgetAll closes the connections of one owner', async () => {
    await using fake = await startFakeEtcd(answers);
    using connections = new EtcdConnections();
    await connections.to({ url: fake.url, owner: 'n/db' }).status();
    connections.to({ url: 'http://b:1', owner: 'n/db' });
    connections.to({ url: 'http://c:1', owner: 'n/other' });
    connections.forgetAll('n/db');
    expect(connections.size).toBe(1);
    await expect.poll(fake.openConnections).toBe(0);
  });

  it('keepOnly closes connections of removed members, so that no password is sent to their addresses', async () => {
    const asked: string[] = [];
    const authenticate = (name: string) => () => ({ token: `${name} ${asked.push(name)}` });
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

  it('close ends all connections and refuses new ones', async () => {
    await using fake = await startFakeEtcd(answers);
    const connections = new EtcdConnections();
    const etcd = connections.to(fake);
    await etcd.status();
    connections.close();
    await expect.poll(fake.openConnections).toBe(0);
    await expect(etcd.status()).rejects.toMatchObject({ kind: 'unreachable' });
    expect(() => connections.to(fake)).toThrow('after close');
  });
});
