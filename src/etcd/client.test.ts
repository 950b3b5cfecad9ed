import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { connect } from '../../test/support/etcd-connect.ts';
import { startFakeEtcd } from '../../test/support/etcd-fake.ts';
import { hexOf } from './types.ts';

describe('memberAdd with a learner', () => {
  it('fails as not-supported before etcd 3.4, and adds a learner from 3.4 on', async () => {
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

describe('an etcd user', () => {
  const credentials = { user: 'root', password: 'secret' };

  it('gets a token with the first call, reuses it, and gets a new one when it is refused', async () => {
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
    'gets a token after auth is enabled, when etcd answers for the CN of the certificate: %s',
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

  it('is refused if a new token is refused too', async () => {
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

  it('without read permission still gets proof of quorum', async () => {
    const range = () => {
      throw new ConnectError('etcdserver: permission denied', Code.PermissionDenied);
    };
    await using fake = await startFakeEtcd({ kv: { range } });
    await connect(fake).linearizableRead();
    await expect(connect(fake).get('a')).rejects.toMatchObject({ kind: 'forbidden', refusal: 'permission-denied' });
  });
});

describe('memberList', () => {
  const member = { id: 1n, name: 'a', peerUrls: ['http://a:2380'], clientUrls: ['http://a:2379'], isLearner: false };

  it('does a linearizable read first, unless linearizable is false', async () => {
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

  it('fails, and returns no empty list, without quorum', async () => {
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
    'covers all keys with a prefix': { key: 'ab', prefix: true, end: [0x61, 0x63] },
    'covers all keys if the prefix is empty': { key: '', prefix: true, end: [0] },
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
