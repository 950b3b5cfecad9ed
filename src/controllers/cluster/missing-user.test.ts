import { describe, expect, it } from 'vitest';
import { samplePod } from '../../../test/support/sample-objects.ts';
import type { ClusterWorld } from '../../core/model/cluster.ts';
import { planCluster } from '../../core/plan/cluster/plan-cluster.ts';
import { statusOf } from '../../core/status/cluster-status.ts';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import type { Endpoint } from '../../etcd/endpoint.ts';
import { EtcdFailure } from '../../etcd/errors.ts';
import type { EtcdRefusal } from '../../etcd/refusals.ts';
import { Failure } from '../../std/failure.ts';
import { observe, refusedUser } from './observe.ts';
import type { Tools } from './sources.ts';

const members = [1n, 2n, 3n].map((id) => ({
  ...{ id, name: `db-${id}`, isLearner: false, clientURLs: [`http://db-${id}:2379`] },
  peerURLs: [`http://db-${id}.db.default.svc:2380`],
}));
const sealed = { 'etcd.database.coreos.com/initial-cluster': 'it-has-lost-its-data=' };
const isMissing = 'Secret root-user does not exist: create it with username and password';

interface Etcd {
  /** Whether its auth is switched on. */
  readonly hasUsers?: boolean;
  /** What its spec says of that. */
  readonly TLS?: object;
  /** What it says to those who have no user. */
  readonly refusal?: EtcdRefusal;
  /** Whose bodies are there. */
  readonly bodies: readonly bigint[];
}

/** What is seen of three members where the Secret of the operator's user is not what it should be, and whom they were asked as. */
async function seen({ refusal, bodies, hasUsers = false, TLS }: Etcd, data?: Readonly<Record<string, string>>) {
  const read = coreos.read({
    metadata: { name: 'db', namespace: 'default', uid: 'u' },
    spec: { size: 3, version: '3.6.16', auth: { operatorCredentials: 'root-user' }, TLS },
    status: { clusterId: 'c', bootstrap: { members: ['db-1'], token: 't' } },
  });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const users: unknown[] = [];
  const answer = async <T>(said: T): Promise<T> => {
    if (refusal === undefined) return said;
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
  const pods = bodies.map((id) => ({
    ...samplePod(`db-${id}`, 1, { annotations: sealed }),
    spec: { containers: [{ name: 'etcd', image: read.value.blueprint.intent.imageOf('3.6.16') }] },
    status: { ...running, conditions, podIP: `${id}` },
  }));
  const get = async (_: unknown, { name }: { name: string }): Promise<object> => {
    if (name !== 'root-user') throw new Failure('forbidden', 'what members mount is none of our business');
    if (data === undefined) throw new Failure('not-found', 'no');
    return { data };
  };
  const tools = {
    caches: { pods: { by: () => pods }, claims: { by: () => [] } },
    ...{ client: { get }, etcd: { to, keepOnly: () => {} }, now: () => new Date(0), randomName: String },
  };
  const { world, planes } = await observe(read.value, tools as unknown as Tools, new AbortController().signal);
  return { world, users, planes };
}

const told = (world: ClusterWorld) => ({
  verdict: planCluster(world),
  problems: [...world.secretProblems, ...(world.unneededSecret === undefined ? [] : [world.unneededSecret])],
});

describe('a Secret of the user that is not there', () => {
  it('keeps nobody from healing a cluster whose etcd has no users, and is told', async () => {
    const { world, users } = await seen({ bodies: [1n, 2n] });
    expect(users).toEqual([undefined, undefined]);
    expect(world.membership).toMatchObject({ seen: true, value: { members: { length: 3 } } });
    expect(told(world)).toMatchObject({ verdict: { is: 'act', reason: 'DeadMember' }, problems: [isMissing] });
    const whole = await seen({ bodies: [1n, 2n, 3n] });
    expect(told(whole.world).verdict).toMatchObject({ is: 'wait', reason: 'SecretUnfit', message: isMissing });
  });

  it('holds nothing up as long as etcd says that its auth is off', async () => {
    const { world } = await seen({ bodies: [1n, 2n, 3n] });
    const larger = { ...world, intent: { ...world.intent, size: 5 } };
    expect(planCluster(larger)).toMatchObject({ is: 'act', reason: 'ScalingUp' });
    expect(statusOf(larger, planCluster(larger)).conditions).toContainEqual(
      expect.objectContaining({ type: 'Degraded', status: 'True', reason: 'SecretUnfit', message: isMissing }),
    );
    const newer = { ...world, intent: { ...world.intent, version: '3.6.17' } };
    expect(planCluster(newer)).toMatchObject({ is: 'act', reason: 'Upgrading' });
  });

  it('is none that members need to begin with encryption', async () => {
    const { planes } = await seen({ bodies: [1n, 2n, 3n], TLS: { static: { member: { peerSecret: 'peer' } } } });
    expect(planes).toEqual({ peer: 'between', client: 'plain' });
  });

  it('holds up what can wait where auth is on, though etcd tells everybody who its members are', async () => {
    const { world } = await seen({ bodies: [1n, 2n, 3n], hasUsers: true });
    const larger = { ...world, intent: { ...world.intent, size: 5 } };
    expect(planCluster(larger)).toMatchObject({ is: 'wait', reason: 'SecretUnfit', message: isMissing });
  });

  it('is why etcd does not let us in where it has users, and nothing else is said of it', async () => {
    for (const refusal of ['auth-needed', 'permission-denied'] as const) {
      const { world } = await seen({ refusal, bodies: [1n, 2n] });
      expect(world.membership).toMatchObject({ seen: false, why: isMissing });
      expect(told(world)).toMatchObject({
        verdict: { is: 'wait', reason: 'SecretUnfit', message: isMissing },
        problems: [isMissing],
      });
    }
  });

  it('is as one that lacks something', async () => {
    const says = 'Secret root-user: password is missing or empty: add it';
    const data = { username: Buffer.from('root').toString('base64') };
    expect(told((await seen({ bodies: [1n, 2n] }, data)).world)).toMatchObject({
      verdict: { is: 'act', reason: 'DeadMember' },
      problems: [says],
    });
    const { world } = await seen({ refusal: 'auth-needed', bodies: [1n] }, data);
    expect(told(world).verdict).toMatchObject({ message: says });
  });

  it('is told of a restored member that does not let us in, too', () => {
    const named = { operatorCredentials: 'root-user' };
    expect(refusedUser('no-user', { ...named, userFlaw: isMissing })).toEqual([isMissing]);
    expect(refusedUser('no-user', { ...named, userFlaw: undefined })).toEqual([
      expect.stringContaining('grant it the role root'),
    ]);
    expect(refusedUser(undefined, { ...named, userFlaw: isMissing })).toEqual([]);
  });
});
