import { describe, expect, it } from 'vitest';
import { samplePod } from '../../../test/support/sample-objects.ts';
import { planCluster } from '../../core/plan/cluster/plan-cluster.ts';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import type { Endpoint } from '../../etcd/endpoint.ts';
import { ApiFailure } from '../../kube/errors.ts';
import { Failure } from '../../std/failure.ts';
import { observe } from './observe.ts';
import type { Tools } from './sources.ts';

const nothing = { by: () => [] };
const TLS = { static: { member: { peerSecret: 'peer', serverSecret: 'server' }, operatorSecret: 'operator' } };
const read = coreos.read({
  metadata: { name: 'db', namespace: 'default', uid: 'u' },
  spec: { size: 3, version: '3.5.35', TLS },
  status: { clusterId: 'c1', bootstrap: { members: ['db-0'], token: 't' } },
});

/** A cluster that is entered with a certificate, where asking for the Secret ends as `get` says. */
async function seen(get: () => Promise<unknown>) {
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const tools = {
    caches: { pods: nothing, claims: nothing },
    client: { get },
    etcd: { keepOnly: () => {} },
    now: () => new Date(0),
    randomName: String,
  };
  return (await observe(read.value, tools as unknown as Tools, new AbortController().signal)).world;
}

describe('a Secret of the operator', () => {
  it('that is not there is why etcd cannot be asked, and the pass goes on to say so', async () => {
    const world = await seen(() => Promise.reject(new Failure('not-found', 'secrets default/operator: not found')));
    const says =
      'Secret operator does not exist: create it with etcd-client.crt, etcd-client.key and etcd-client-ca.crt';
    expect(world.membership).toEqual({ seen: false, why: expect.stringContaining(says) });
    expect(planCluster(world)).toMatchObject({
      is: 'wait',
      reason: 'SecretUnfit',
      message: expect.stringContaining(says),
    });
  });

  it('that lacks a file is named, and so is the file', async () => {
    const world = await seen(async () => ({ data: { 'etcd-client.crt': '' } }));
    expect(world.membership).toMatchObject({
      seen: false,
      why: 'Secret operator: etcd-client.crt is empty',
    });
  });

  it('is not needed to ask those who serve without encryption as yet, and nobody is to begin with it', async () => {
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    const asked: string[] = [];
    const to = ({ url }: Endpoint) => ({
      status: async () => {
        asked.push(url);
        throw new Failure('unreachable', 'nobody there');
      },
    });
    const running = {
      containerStatuses: [{ name: 'etcd', restartCount: 0, state: { running: {} } }],
      podIP: '10.0.0.1',
    };
    const tools = {
      caches: { pods: { by: () => [{ ...samplePod('db-0', 1), status: running }] }, claims: nothing },
      client: { get: () => Promise.reject(new Failure('not-found', 'not there')) },
      ...{ etcd: { to, keepOnly: () => {} }, now: () => new Date(0), randomName: String },
    };
    const { world, planes } = await observe(read.value, tools as unknown as Tools, new AbortController().signal);
    expect(asked).toEqual(['http://db-0.db.default.svc:2379']);
    expect(planes).toEqual({ peer: 'plain', client: 'plain' });
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
  ])('that cannot be read is reported as a missing one is: %s', async (failure, says) => {
    const world = await seen(() => Promise.reject(failure));
    expect(world.membership).toMatchObject({ seen: false, why: says });
    expect(planCluster(world)).toMatchObject({ is: 'wait', reason: 'SecretUnfit' });
  });

  it('does not hide a bug of ours', async () => {
    await expect(seen(() => Promise.reject(new TypeError('x is undefined')))).rejects.toThrow('x is undefined');
  });
});

type Keep = (owner: string, present: readonly { readonly host: string }[]) => void;

describe('a question to a member', () => {
  /** How long each is given to answer, by its address. */
  async function patience(memory: object, keepOnly: Keep = () => {}): Promise<Readonly<Record<string, number>>> {
    const status = { containerStatuses: [{ name: 'etcd', restartCount: 0, state: { running: {} } }] };
    const conditions = [{ type: 'Ready', status: 'True' }];
    const pods = [
      { ...samplePod('db-0', 1), status: { ...status, conditions, podIP: 'serving' } },
      { ...samplePod('db-2', 1), status: { ...status, podIP: 'starting' } },
      { ...samplePod('db-3', 1, { namespace: 'attacker' }), status: { ...status, conditions, podIP: 'of another' } },
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
        throw new Failure('unreachable', 'nobody there');
      },
    });
    const tools = {
      caches: { pods: { by: () => pods }, claims: nothing },
      etcd: { to, keepOnly },
      now: () => new Date(0),
      randomName: String,
    };
    const object = { metadata: { name: 'db', namespace: 'default', uid: 'u' }, spec: { size: 3 }, status: memory };
    const cluster = coreos.read(object);
    if (!cluster.ok) throw new Error(JSON.stringify(cluster.problems));
    await observe(cluster.value, tools as unknown as Tools, new AbortController().signal);
    return given;
  }

  it('waits long for an answer, but not of one that is being stopped or not ready', async () => {
    expect(await patience({ clusterId: 'c1' })).toEqual({ serving: 2_000, starting: 300, stopping: 300 });
  });

  it("leaves connections only to pods that are there: an address of a pod that ended may be another pod's", async () => {
    const kept: unknown[] = [];
    await patience({ clusterId: 'c1' }, (owner, present) => kept.push(owner, ...present.map(({ host }) => host)));
    expect(kept).toEqual(['default/db', 'serving', 'starting', 'stopping']);
  });

  it('reaches no pod of another namespace, whatever a lookup has found', async () => {
    expect(Object.keys(await patience({ clusterId: 'c1' }))).not.toContain('of another');
  });

  it('waits for nobody long while the first members are still finding each other', async () => {
    expect(await patience({ bootstrap: { members: ['db-0'], token: 't' } })).toEqual({
      serving: 300,
      starting: 300,
      stopping: 300,
    });
  });
});
