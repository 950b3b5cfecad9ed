import { describe, expect, it } from 'vitest';
import { planCluster } from '../../core/plan/cluster/plan-cluster.ts';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
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
    now: () => new Date(0),
    randomName: String,
  };
  return (await observe(read.value, tools as unknown as Tools, new AbortController().signal)).world;
}

describe('a Secret of the operator', () => {
  it('that is not there is why etcd cannot be asked, and the pass goes on to say so', async () => {
    const world = await seen(() => Promise.reject(new Failure('not-found', 'secrets default/operator: not found')));
    expect(world.membership).toEqual({ seen: false, why: 'secrets default/operator: not found' });
    expect(planCluster(world)).toMatchObject({
      is: 'wait',
      reason: 'NoContact',
      message: 'secrets default/operator: not found',
    });
  });

  it('that lacks a file is named, and so is the file', async () => {
    const world = await seen(async () => ({ data: { 'etcd-client.crt': '' } }));
    expect(world.membership).toMatchObject({
      seen: false,
      why: expect.stringContaining('Secret operator has no etcd-client-ca.crt'),
    });
  });

  it('does not hide a bug of ours', async () => {
    await expect(seen(() => Promise.reject(new TypeError('x is undefined')))).rejects.toThrow('x is undefined');
  });
});
