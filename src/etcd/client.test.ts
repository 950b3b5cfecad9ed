import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { connect } from '../../test/support/etcd-connect.ts';
import { startFakeEtcd } from '../../test/support/etcd-fake.ts';
import { hexOf } from './words.ts';

describe('a member is added as a learner', () => {
  it('only where the server knows what that is', async () => {
    const asked: boolean[] = [];
    const memberAdd = ({ isLearner }: { isLearner: boolean }) => {
      asked.push(isLearner);
      return { member: { id: 2n ** 63n, isLearner } };
    };
    await using old = await startFakeEtcd({
      cluster: { memberAdd },
      maintenance: { status: () => ({ version: '3.3.27' }) },
    });
    await expect(connect(old).memberAdd(['http://a'], { learner: true })).rejects.toMatchObject({
      kind: 'rejected',
      refusal: 'not-supported',
      mayBeDone: false,
    });
    expect(asked).toEqual([]);
    await using young = await startFakeEtcd({
      cluster: { memberAdd },
      maintenance: { status: () => ({ version: '3.10.0' }) },
    });
    const { id, isLearner } = await connect(young).memberAdd(['http://a'], { learner: true });
    expect([hexOf(id), isLearner]).toEqual(['8000000000000000', true]);
  });
});

describe('a user', () => {
  const credentials = { user: 'root', password: 'secret' };

  it('gets a token with the first call, keeps it, and gets another when it is refused', async () => {
    let valid = 'none';
    let given = 0;
    const authenticate = () => {
      valid = `token ${++given}`;
      return { token: valid };
    };
    const range = (_request: unknown, { requestHeader }: { requestHeader: Headers }) => {
      if (requestHeader.get('token') === valid) return {};
      throw new ConnectError('etcdserver: invalid auth token', Code.Unauthenticated);
    };
    await using fake = await startFakeEtcd({ auth: { authenticate }, kv: { range } });
    const etcd = connect({ url: fake.url, credentials });
    await etcd.linearizableRead();
    await etcd.linearizableRead();
    expect(given).toBe(1);
    valid = 'forgotten';
    await etcd.linearizableRead();
    expect(given).toBe(2);
  });

  it.each(['user name not found', 'permission denied'])(
    'that came before there were users gets a token when the name in its certificate has the answer: %s',
    async (answer) => {
      let hasUsers = false;
      const authenticate = () => {
        if (hasUsers) return { token: 'root' };
        throw new ConnectError('etcdserver: authentication is not enabled', Code.FailedPrecondition);
      };
      const range = (_: unknown, { requestHeader }: { readonly requestHeader: Headers }) => {
        if (!hasUsers || requestHeader.get('token') === 'root') return {};
        throw new ConnectError(`etcdserver: ${answer}`, Code.FailedPrecondition);
      };
      await using fake = await startFakeEtcd({ auth: { authenticate }, kv: { range } });
      const etcd = connect({ url: fake.url, credentials });
      await etcd.linearizableRead();
      hasUsers = true;
      await etcd.linearizableRead();
    },
  );

  it('is refused in the end when no token helps', async () => {
    let asked = 0;
    const range = () => {
      asked++;
      throw new ConnectError('etcdserver: invalid auth token', Code.Unauthenticated);
    };
    await using fake = await startFakeEtcd({ auth: { authenticate: () => ({ token: 'x' }) }, kv: { range } });
    const etcd = connect({ url: fake.url, credentials });
    await expect(etcd.linearizableRead()).rejects.toMatchObject({ kind: 'forbidden', refusal: 'invalid-token' });
    expect(asked).toBe(2);
  });

  it('who may not read still learns that there is a majority', async () => {
    const range = () => {
      throw new ConnectError('etcdserver: permission denied', Code.PermissionDenied);
    };
    await using fake = await startFakeEtcd({ kv: { range } });
    await connect(fake).linearizableRead();
    await expect(connect(fake).get('a')).rejects.toMatchObject({ kind: 'forbidden', refusal: 'permission-denied' });
  });
});

describe('the members of a cluster', () => {
  const member = { id: 1n, name: 'a', peerUrls: ['http://a:2380'], clientUrls: ['http://a:2379'], isLearner: false };

  it('are listed after a read that needs a majority, unless that is not asked for', async () => {
    const asked: string[] = [];
    const memberList = ({ linearizable }: { linearizable: boolean }) => {
      asked.push(`list ${linearizable}`);
      return { members: [member] };
    };
    const range = () => {
      asked.push('read');
      return {};
    };
    await using fake = await startFakeEtcd({ cluster: { memberList }, kv: { range } });
    const etcd = connect(fake);
    const { peerUrls: peerURLs, clientUrls: clientURLs, ...rest } = member;
    expect(await etcd.memberList()).toEqual([{ ...rest, peerURLs, clientURLs }]);
    await etcd.memberList({ linearizable: false });
    expect(asked).toEqual(['read', 'list true', 'list false']);
  });

  it('are unknown, not none, when the majority is missing', async () => {
    const range = () => {
      throw new ConnectError('etcdserver: request timed out', Code.Unavailable);
    };
    await using fake = await startFakeEtcd({ cluster: { memberList: () => ({ members: [] }) }, kv: { range } });
    await expect(connect(fake).memberList()).rejects.toMatchObject({ refusal: 'timed-out-in-cluster' });
  });
});

describe('a range of keys', () => {
  const cases: Record<string, { key: string; prefix?: boolean; end: number[] }> = {
    'is one key': { key: 'a', end: [] },
    'is all that begin with a prefix': { key: 'ab', prefix: true, end: [0x61, 0x63] },
    'is everything when the prefix is empty': { key: '', prefix: true, end: [0] },
  };
  for (const [sentence, { key, prefix = false, end }] of Object.entries(cases))
    it(sentence, async () => {
      const asked: number[][] = [];
      const range = ({ rangeEnd }: { rangeEnd: Uint8Array }) => {
        asked.push([...rangeEnd]);
        return { count: 7n };
      };
      await using fake = await startFakeEtcd({ kv: { range } });
      expect(await connect(fake).count({ key, prefix })).toBe(7n);
      expect(asked).toEqual([end]);
    });
});
