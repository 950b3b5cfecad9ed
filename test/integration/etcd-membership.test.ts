import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { EtcdMember } from '../../src/etcd/types.ts';
import { etcdVersions } from '../../tools/programs/catalog.ts';
import { startEtcd } from '../support/etcd-cluster.ts';
import { type EtcdProcess, minorOf } from '../support/etcd-process.ts';
import { until } from '../support/until.ts';

const withLearners = etcdVersions.filter((version) => minorOf(version) >= 4);
const withoutLearners = etcdVersions.filter((version) => minorOf(version) < 4);

describe.concurrent.each(withLearners)('membership of etcd %s', (version) => {
  it('grows by a learner that is promoted, and shrinks by a removal', async () => {
    await using cluster = await startEtcd({ version });
    const etcd = cluster.connect();
    const second = await cluster.prepareMember();
    const member = await etcd.memberAdd([second.peerURL], { learner: true });
    expect(member).toMatchObject({ name: '', peerURLs: [second.peerURL], clientURLs: [], isLearner: true });
    expect(await etcd.memberList()).toContainEqual(member);

    await expect(etcd.memberPromote(member.id)).rejects.toMatchObject({
      kind: 'conflict',
      refusal: 'learner-not-ready',
    });
    await expect(etcd.memberAdd(['http://127.0.0.1:1'], { learner: true })).rejects.toMatchObject({
      kind: 'conflict',
      refusal: 'too-many-learners',
      mayBeDone: false,
    });
    await expect(etcd.memberAdd([second.peerURL], { learner: true })).rejects.toMatchObject({
      kind: 'conflict',
      // etcd derives the ID from the URLs and the current second.
      refusal: expect.stringMatching(/peer-url-exists|member-exists/),
    });

    cluster.startAdded(second);
    expect(await cluster.answering(second)).toMatchObject({ memberId: member.id, isLearner: true });
    await expect(cluster.connect(second).memberList()).rejects.toMatchObject({
      kind: 'conflict',
      refusal: 'is-learner',
    });
    await cluster.retry('the learner is promoted', () => etcd.memberPromote(member.id));
    expect((await etcd.memberList()).map(({ isLearner }) => isLearner)).toEqual([false, false]);
    await expect(etcd.memberPromote(member.id)).rejects.toMatchObject({ kind: 'conflict', refusal: 'not-learner' });

    await cluster.remove(member.id);
    expect((await etcd.memberList()).map(({ name }) => name)).toEqual(['m0']);
    await expect(etcd.memberRemove(member.id)).rejects.toMatchObject({
      kind: 'not-found',
      refusal: 'member-not-found',
    });
  });
});

describe.concurrent.each(withoutLearners)('membership of etcd %s', (version) => {
  it('rejects a learner, grows by a voter, and shrinks by a removal', async () => {
    await using cluster = await startEtcd({ version });
    const etcd = cluster.connect();
    const second = await cluster.prepareMember();
    await expect(etcd.memberAdd([second.peerURL], { learner: true })).rejects.toMatchObject({
      kind: 'rejected',
      refusal: 'not-supported',
      mayBeDone: false,
    });
    expect(await etcd.memberList()).toHaveLength(1);
    await expect(etcd.memberPromote(1n)).rejects.toMatchObject({ kind: 'rejected', refusal: 'not-supported' });

    const member = await etcd.memberAdd([second.peerURL], { learner: false });
    expect(member).toMatchObject({ name: '', isLearner: false });
    cluster.startAdded(second);
    await cluster.settled();
    expect(await etcd.memberList()).toHaveLength(2);
    await cluster.remove(member.id);
    expect((await etcd.memberList()).map(({ name }) => name)).toEqual(['m0']);
  });
});

describe.concurrent.each(etcdVersions)('a membership change of etcd %s', (version) => {
  it('updates a peer URL, and cannot remove the last member', async () => {
    await using cluster = await startEtcd({ version });
    const etcd = cluster.connect();
    const { memberId } = await etcd.status();
    await etcd.memberUpdate(memberId, ['http://127.0.0.1:1']);
    expect((await etcd.memberList())[0]?.peerURLs).toEqual(['http://127.0.0.1:1']);
    await expect(etcd.memberRemove(memberId)).rejects.toMatchObject({
      kind: 'unreachable',
      refusal: 'not-enough-started-members',
      mayBeDone: false,
    });
  });

  it('transfers leadership if the version supports it and the request goes to the leader', async () => {
    await using cluster = await startEtcd({ version, size: 2 });
    // A busy machine delays heartbeats, and the members may elect another leader between two requests.
    await until('leadership is transferred', async () => {
      const [leader, follower] = (await cluster.leaderFirst()).map((member) => cluster.connect(member));
      if (leader === undefined || follower === undefined) throw new Error('expected two members');
      const { memberId: target } = await follower.status();
      if (minorOf(version) < 3) {
        await expect(leader.moveLeader(target)).rejects.toMatchObject({ kind: 'rejected', refusal: 'not-supported' });
        return true;
      }
      await expect(follower.moveLeader(target)).rejects.toMatchObject({ kind: 'conflict', refusal: 'not-leader' });
      await leader.moveLeader(target);
      expect((await follower.status()).leader).toBe(target);
      return true;
    });
  });

  it('that adds a member is rejected while one of three voters is dead, and succeeds once the dead voter is removed', async () => {
    await using cluster = await startEtcd({ version, size: 3 });
    const [alive, , dead] = cluster.members as [EtcdProcess, EtcdProcess, EtcdProcess];
    const etcd = cluster.connect(alive);
    const { memberId } = await cluster.connect(dead).status();
    await dead.kill();
    await cluster.settled(cluster.members.slice(0, 2));
    const add = (): Promise<EtcdMember> => etcd.memberAdd(['http://127.0.0.1:1'], { learner: minorOf(version) >= 4 });
    await sleep(6_000); // etcd requires peers to be connected for 5 s; after that only the dead member blocks the change
    await expect(add()).rejects.toMatchObject({ kind: 'unreachable', refusal: 'unhealthy-cluster', mayBeDone: false });
    await cluster.remove(memberId);
    await cluster.retry('a member is added', add);
    expect(await etcd.memberList({ linearizable: false })).toHaveLength(3);
  });
});
