import { describe, expect, it } from 'vitest';
import { samplePod } from '../../../../test/support/sample-objects.ts';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import type { ClusterWorld } from '../../../core/cluster/model/cluster.ts';
import { planCluster } from '../../../core/cluster/plan/plan-cluster.ts';
import { statusOf } from '../../../core/cluster/status/cluster-status.ts';
import type { Endpoint } from '../../../etcd/endpoint.ts';
import { EtcdFailure } from '../../../etcd/errors.ts';
import type { EtcdRefusal } from '../../../etcd/refusals.ts';
import { Failure } from '../../../std/failure.ts';
import type { ControllerContext } from '../../shared/context.ts';
import { refusedUser } from './etcd-auth.ts';
import { observe } from './observe.ts';

const members = [1n, 2n, 3n].map((id) => ({
  ...{ id, name: `db-${id}`, isLearner: false, clientURLs: [`http://db-${id}:2379`] },
  peerURLs: [`http://db-${id}.db.default.svc:2380`],
}));
const bootstrapForbidden = { 'etcd.database.coreos.com/initial-cluster': 'it-has-lost-its-data=' };
const isMissing = 'Secret root-user does not exist: create it with username and password';

interface Etcd {
  /** True if auth is enabled. */
  readonly hasUsers?: boolean;
  /** The TLS field of the spec. */
  readonly TLS?: object;
  /** The refusal of a request without a user. */
  readonly refusal?: EtcdRefusal;
  /** The IDs of members with a pod. */
  readonly podsAndPvcs: readonly bigint[];
}

/** Observes three members with this Secret of the operator's user. Returns the world and the users of the requests. */
async function seen({ refusal, podsAndPvcs, hasUsers = false, TLS }: Etcd, data?: Readonly<Record<string, string>>) {
  const read = coreos.read({
    metadata: { name: 'db', namespace: 'default', uid: 'u' },
    spec: { size: 3, version: '3.6.16', auth: { operatorCredentials: 'root-user' }, TLS },
    status: { clusterId: 'c', bootstrap: { members: ['db-1'], token: 't' } },
  });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const users: unknown[] = [];
  const answer = async <T>(value: T): Promise<T> => {
    if (refusal === undefined) return value;
    throw new EtcdFailure('forbidden', 'etcdserver: no', { refusal, mayBeDone: false });
  };
  const authenticate = async (): Promise<string> => {
    const why = hasUsers ? 'wrong-password' : 'auth-not-enabled';
    throw new EtcdFailure('rejected', why, { refusal: why, mayBeDone: false });
  };
  const to = ({ credentials, dial }: Endpoint) => {
    users.push(credentials?.user);
    const memberId = BigInt(dial?.host ?? 0);
    const status = {
      memberId,
      clusterId: 12n,
      leader: 1n,
      version: '3.6.16',
      errors: [],
      isLearner: false,
      raftIndex: 9n,
    };
    return { status: () => answer(status), memberList: () => answer(members), authenticate };
  };
  const running = { containerStatuses: [{ name: 'etcd', restartCount: 0, state: { running: {} } }] };
  const conditions = [{ type: 'Ready', status: 'True' }];
  const pods = podsAndPvcs.map((id) => ({
    ...samplePod(`db-${id}`, 1, { annotations: bootstrapForbidden }),
    spec: { containers: [{ name: 'etcd', image: read.value.blueprint.intent.imageOf('3.6.16') }] },
    status: { ...running, conditions, podIP: `${id}` },
  }));
  const get = async (_: unknown, { name }: { name: string }): Promise<object> => {
    if (name !== 'root-user') throw new Failure('forbidden', 'the operator may not read this Secret');
    if (data === undefined) throw new Failure('not-found', 'no');
    return { data };
  };
  const context = {
    caches: { pods: { by: () => pods }, claims: { by: () => [] } },
    ...{ client: { get }, etcd: { to, keepOnly: () => {} }, now: () => new Date(0), randomName: String },
  };
  const { world, tlsModes } = await observe(
    read.value,
    context as unknown as ControllerContext,
    new AbortController().signal,
  );
  return { world, users, tlsModes };
}

const reportOf = (world: ClusterWorld) => ({
  verdict: planCluster(world),
  problems: [...world.secretProblems, ...(world.unneededSecret === undefined ? [] : [world.unneededSecret])],
});

describe('a missing Secret of the operator user', () => {
  it('is reported, and does not block the replacement of a dead member while auth is disabled', async () => {
    const { world, users } = await seen({ podsAndPvcs: [1n, 2n] });
    expect(users).toEqual([undefined, undefined]);
    expect(world.membership).toMatchObject({ seen: true, value: { members: { length: 3 } } });
    expect(reportOf(world)).toMatchObject({ verdict: { is: 'act', reason: 'DeadMember' }, problems: [isMissing] });
    const whole = await seen({ podsAndPvcs: [1n, 2n, 3n] });
    expect(reportOf(whole.world).verdict).toMatchObject({ is: 'wait', reason: 'InvalidSecret', message: isMissing });
  });

  it('blocks no scaling and no upgrade while auth is disabled', async () => {
    const { world } = await seen({ podsAndPvcs: [1n, 2n, 3n] });
    const larger = { ...world, intent: { ...world.intent, size: 5 } };
    expect(planCluster(larger)).toMatchObject({ is: 'act', reason: 'ScalingUp' });
    expect(statusOf(larger, planCluster(larger)).conditions).toContainEqual(
      expect.objectContaining({ type: 'Degraded', status: 'True', reason: 'InvalidSecret', message: isMissing }),
    );
    const newer = { ...world, intent: { ...world.intent, version: '3.6.17' } };
    expect(planCluster(newer)).toMatchObject({ is: 'act', reason: 'Upgrading' });
  });

  it('does not block the switch to TLS', async () => {
    const { tlsModes } = await seen({ podsAndPvcs: [1n, 2n, 3n], TLS: { static: { member: { peerSecret: 'peer' } } } });
    expect(tlsModes).toEqual({ peer: 'dual-mode', client: 'plain' });
  });

  it('blocks scaling while auth is enabled, although etcd returns its member list', async () => {
    const { world } = await seen({ podsAndPvcs: [1n, 2n, 3n], hasUsers: true });
    const larger = { ...world, intent: { ...world.intent, size: 5 } };
    expect(planCluster(larger)).toMatchObject({ is: 'wait', reason: 'InvalidSecret', message: isMissing });
  });

  it('is the only reported reason if etcd refuses the operator', async () => {
    for (const refusal of ['auth-needed', 'permission-denied'] as const) {
      const { world } = await seen({ refusal, podsAndPvcs: [1n, 2n] });
      expect(world.membership).toMatchObject({ seen: false, why: isMissing });
      expect(reportOf(world)).toMatchObject({
        verdict: { is: 'wait', reason: 'InvalidSecret', message: isMissing },
        problems: [isMissing],
      });
    }
  });

  it('is treated like a Secret without a password', async () => {
    const problem = 'Secret root-user: password is missing or empty: add it';
    const data = { username: Buffer.from('root').toString('base64') };
    expect(reportOf((await seen({ podsAndPvcs: [1n, 2n] }, data)).world)).toMatchObject({
      verdict: { is: 'act', reason: 'DeadMember' },
      problems: [problem],
    });
    const { world } = await seen({ refusal: 'auth-needed', podsAndPvcs: [1n] }, data);
    expect(reportOf(world).verdict).toMatchObject({ message: problem });
  });

  it('is the reported reason if a restored member refuses the operator', () => {
    const named = { operatorCredentials: 'root-user' };
    expect(refusedUser('no-user', { ...named, userProblem: isMissing })).toEqual([isMissing]);
    expect(refusedUser('no-user', { ...named, userProblem: undefined })).toEqual([
      expect.stringContaining('grant it the role root'),
    ]);
    expect(refusedUser(undefined, { ...named, userProblem: isMissing })).toEqual([]);
  });
});
