import { describe, expect, it } from 'vitest';
import { samplePod } from '../../../../test/support/sample-objects.ts';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import { planCluster } from '../../../core/cluster/plan/plan-cluster.ts';
import type { Endpoint } from '../../../etcd/endpoint.ts';
import { ApiFailure } from '../../../kube/errors.ts';
import { Failure } from '../../../std/failure.ts';
import type { ControllerContext } from '../../shared/context.ts';
import { observe } from './observe.ts';

const nothing = { by: () => [] };
const TLS = { static: { member: { peerSecret: 'peer', serverSecret: 'server' }, operatorSecret: 'operator' } };
const read = coreos.read({
  metadata: { name: 'db', namespace: 'default', uid: 'u' },
  spec: { size: 3, version: '3.5.35', TLS },
  status: { clusterId: 'c1', bootstrap: { members: ['db-0'], token: 't' } },
});

/** Observes a cluster with TLS, whose Secrets are read by `get`. */
async function seen(get: () => Promise<unknown>) {
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const context = {
    caches: { pods: nothing, claims: nothing },
    client: { get },
    etcd: { keepOnly: () => {} },
    now: () => new Date(0),
    randomName: String,
  };
  return (await observe(read.value, context as unknown as ControllerContext, new AbortController().signal)).world;
}

describe('the client certificate Secret of the operator', () => {
  it('is reported as the reason for unknown members if it is missing', async () => {
    const world = await seen(() => Promise.reject(new Failure('not-found', 'secrets default/operator: not found')));
    const message =
      'Secret operator does not exist: create it with etcd-client.crt, etcd-client.key and etcd-client-ca.crt';
    expect(world.membership).toEqual({ seen: false, why: expect.stringContaining(message) });
    expect(planCluster(world)).toMatchObject({
      is: 'wait',
      reason: 'InvalidSecret',
      message: expect.stringContaining(message),
    });
  });

  it('is reported with the name of an empty file', async () => {
    const world = await seen(async () => ({ data: { 'etcd-client.crt': '' } }));
    expect(world.membership).toMatchObject({
      seen: false,
      why: 'Secret operator: etcd-client.crt is empty',
    });
  });

  it('is not needed to ask plaintext members, which stay plaintext without certificates', async () => {
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    const asked: string[] = [];
    const to = ({ url }: Endpoint) => ({
      status: async () => {
        asked.push(url);
        throw new Failure('unreachable', 'no answer');
      },
    });
    const running = {
      containerStatuses: [{ name: 'etcd', restartCount: 0, state: { running: {} } }],
      podIP: '10.0.0.1',
    };
    const context = {
      caches: { pods: { by: () => [{ ...samplePod('db-0', 1), status: running }] }, claims: nothing },
      client: { get: () => Promise.reject(new Failure('not-found', 'not there')) },
      ...{ etcd: { to, keepOnly: () => {} }, now: () => new Date(0), randomName: String },
    };
    const { world, tlsModes } = await observe(
      read.value,
      context as unknown as ControllerContext,
      new AbortController().signal,
    );
    expect(asked).toEqual(['http://db-0.db.default.svc:2379']);
    expect(tlsModes).toEqual({ peer: 'plain', client: 'plain' });
    expect(world).toMatchObject({ secretProblems: { length: 3 }, startsWithoutSecrets: true });
  });

  it.each([
    [
      new ApiFailure('unreachable', 'get secrets: KMS is down'),
      'Secret operator cannot be read: get secrets: KMS is down',
    ],
    [
      new ApiFailure('forbidden', 'no'),
      'Secret operator may not be read by the operator: grant it the right to get secrets',
    ],
  ])('is reported if it cannot be read: %s', async (failure, message) => {
    const world = await seen(() => Promise.reject(failure));
    expect(world.membership).toMatchObject({ seen: false, why: message });
    expect(planCluster(world)).toMatchObject({ is: 'wait', reason: 'InvalidSecret' });
  });

  it('does not hide a bug of the operator', async () => {
    await expect(seen(() => Promise.reject(new TypeError('x is undefined')))).rejects.toThrow('x is undefined');
  });
});

type Keep = (owner: string, present: readonly { readonly host: string }[]) => void;

describe('a request to a member', () => {
  /** Returns the timeout of each request, by address. */
  async function timeouts(memory: object, keepOnly: Keep = () => {}): Promise<Readonly<Record<string, number>>> {
    const status = { containerStatuses: [{ name: 'etcd', restartCount: 0, state: { running: {} } }] };
    const conditions = [{ type: 'Ready', status: 'True' }];
    const pods = [
      { ...samplePod('db-0', 1), status: { ...status, conditions, podIP: 'serving' } },
      { ...samplePod('db-2', 1), status: { ...status, podIP: 'starting' } },
      { ...samplePod('db-3', 1, { namespace: 'attacker' }), status: { ...status, conditions, podIP: 'foreign' } },
      { ...samplePod('db-4', 1), status: { ...status, phase: 'Failed', podIP: 'ended' } },
      {
        ...samplePod('db-1', 1, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
        status: { ...status, conditions, podIP: 'stopping' },
      },
    ];
    const given: Record<string, number> = {};
    const to = ({ dial }: Endpoint) => ({
      host: dial?.host,
      status: async ({ timeoutMillis }: { timeoutMillis: number }) => {
        given[dial?.host ?? ''] = timeoutMillis;
        throw new Failure('unreachable', 'no answer');
      },
    });
    const context = {
      caches: { pods: { by: () => pods }, claims: nothing },
      etcd: { to, keepOnly },
      now: () => new Date(0),
      randomName: String,
    };
    const object = { metadata: { name: 'db', namespace: 'default', uid: 'u' }, spec: { size: 3 }, status: memory };
    const cluster = coreos.read(object);
    if (!cluster.ok) throw new Error(JSON.stringify(cluster.problems));
    await observe(cluster.value, context as unknown as ControllerContext, new AbortController().signal);
    return given;
  }

  it('has a long timeout, but a short one for a stopping or unready pod', async () => {
    expect(await timeouts({ clusterId: 'c1' })).toEqual({ serving: 2_000, starting: 300, stopping: 300 });
  });

  it('closes the connections to ended pods, whose addresses may belong to other pods', async () => {
    const kept: unknown[] = [];
    await timeouts({ clusterId: 'c1' }, (owner, present) => kept.push(owner, ...present.map(({ host }) => host)));
    expect(kept).toEqual(['default/db', 'serving', 'starting', 'stopping']);
  });

  it('is not sent to a pod in another namespace', async () => {
    expect(Object.keys(await timeouts({ clusterId: 'c1' }))).not.toContain('foreign');
  });

  it('has a short timeout while the cluster is forming', async () => {
    expect(await timeouts({ bootstrap: { members: ['db-0'], token: 't' } })).toEqual({
      serving: 300,
      starting: 300,
      stopping: 300,
    });
  });
});
