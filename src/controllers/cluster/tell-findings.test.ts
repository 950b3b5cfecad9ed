import { expect, it } from 'vitest';
import { samplePod } from '../../../test/support/sample-objects.ts';
import { aWorld, withIntent, withMember } from '../../../test/support/worlds.ts';
import { planCluster } from '../../core/plan/cluster/plan-cluster.ts';
import { statusOf } from '../../core/status/cluster-status.ts';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import { EtcdFailure } from '../../etcd/errors.ts';
import { observe } from './observe.ts';
import type { Tools } from './sources.ts';
import { tellFindings } from './tell-findings.ts';
import { Watched } from './watched.ts';

const object = { kind: 'EtcdCluster', metadata: { name: 'db', namespace: 'default', uid: 'u' } } as never;
const raw = 'Status of http://10.0.0.1:2379: no connection: connect ECONNREFUSED 10.0.0.1:2379 (ECONNREFUSED)';

it('an alarm of a paused cluster is a Warning Event', () => {
  const events: object[] = [];
  const world = aWorld(withMember('db-1', { alarms: ['NOSPACE'] }), withIntent({ paused: true }));
  tellFindings(object, { world }, { tell: (_, news) => void events.push(news), log: () => undefined });
  expect(events).toMatchObject([
    { type: 'Warning', reason: 'AlarmRaised', message: expect.stringContaining('NOSPACE') },
  ]);
});

/** A cluster of one, which has formed, and whose member refuses every connection. */
async function unreachableCluster() {
  let now = 0;
  const read = coreos.read({
    metadata: { name: 'db', namespace: 'default', uid: 'u' },
    spec: { size: 1, version: '3.5.35' },
    status: { clusterId: 'c1', memberStatus: [{ name: 'db-0', id: '1', role: 'voter' }] },
  });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const status = {
    containerStatuses: [{ name: 'etcd', restartCount: 0, state: { running: {} } }],
    conditions: [{ type: 'Ready', status: 'False', reason: 'ContainersNotReady' }],
    podIP: '10.0.0.1',
  };
  const pod = samplePod('db-0', 1);
  const refusing = { status: () => Promise.reject(new EtcdFailure('unreachable', raw, { mayBeDone: false })) };
  const tools = {
    caches: {
      pods: { by: () => [{ ...pod, spec: { ...pod.spec, nodeName: 'node2' }, status }] },
      claims: { by: () => [] },
    },
    ...{ etcd: { to: () => refusing, keepOnly: () => {} }, now: () => new Date(0), randomName: String },
    watched: new Watched({ monotonic: () => now }),
  } as unknown as Tools;
  await observe(read.value, tools, new AbortController().signal);
  now += 20_000;
  return (await observe(read.value, tools, new AbortController().signal)).world;
}

it('what the transport says is in the log, and in no condition and no Event', async () => {
  const world = await unreachableCluster();
  const said: string[] = [];
  const logged: string[] = [];
  const tools: Pick<Tools, 'tell' | 'log'> = {
    tell: (_, { reason, message }) => void said.push(`${reason} ${message}`),
    log: (_, __, fields) => void logged.push(JSON.stringify(fields)),
  };
  tellFindings(object, { world }, tools);
  const { conditions } = statusOf(world, planCluster(world));
  expect(said).toEqual([
    expect.stringContaining('NoContact 1 of 1 members unreachable: pod db-0 on node2 is not ready'),
  ]);
  expect(JSON.stringify([said, conditions])).not.toMatch(/ECONNREFUSED|10\.0\.0\.1/);
  expect(logged.join()).toContain('ECONNREFUSED');
});
