import { expect, it } from 'vitest';
import { samplePod } from '../../../test/support/sample-objects.ts';
import { aWorld, withIntent, withMember } from '../../../test/support/worlds.ts';
import { coreos } from '../../apis/coreos-v1beta2/dialect.ts';
import { planCluster } from '../../core/cluster/plan/plan-cluster.ts';
import { statusOf } from '../../core/cluster/status/cluster-status.ts';
import { EtcdFailure } from '../../etcd/errors.ts';
import type { ControllerContext } from '../shared/context.ts';
import { recordFindings } from './finding-events.ts';
import { observe } from './observe/observe.ts';
import { Watched } from './observe/watched.ts';

const object = { kind: 'EtcdCluster', metadata: { name: 'db', namespace: 'default', uid: 'u' } } as never;
const raw = 'Status of http://10.0.0.1:2379: no connection: connect ECONNREFUSED 10.0.0.1:2379 (ECONNREFUSED)';

it('an alarm in a paused cluster causes a Warning Event', () => {
  const events: object[] = [];
  const world = aWorld(withMember('db-1', { alarms: ['NOSPACE'] }), withIntent({ paused: true }));
  recordFindings(object, { world }, { recordEvent: (_, event) => void events.push(event), log: () => undefined });
  expect(events).toMatchObject([
    { type: 'Warning', reason: 'AlarmRaised', message: expect.stringContaining('NOSPACE') },
  ]);
});

/** A formed cluster of one member, which refuses every connection. */
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
  const context = {
    caches: {
      pods: { by: () => [{ ...pod, spec: { ...pod.spec, nodeName: 'node2' }, status }] },
      claims: { by: () => [] },
    },
    ...{ etcd: { to: () => refusing, keepOnly: () => {} }, now: () => new Date(0), randomName: String },
    watched: new Watched({ monotonic: () => now }),
  } as unknown as ControllerContext;
  await observe(read.value, context, new AbortController().signal);
  now += 20_000;
  return (await observe(read.value, context, new AbortController().signal)).world;
}

it('the error of the transport is in the log, and in no condition or Event', async () => {
  const world = await unreachableCluster();
  const events: string[] = [];
  const logged: string[] = [];
  const context: Pick<ControllerContext, 'recordEvent' | 'log'> = {
    recordEvent: (_, { reason, message }) => void events.push(`${reason} ${message}`),
    log: (_, __, fields) => void logged.push(JSON.stringify(fields)),
  };
  recordFindings(object, { world }, context);
  const { conditions } = statusOf(world, planCluster(world));
  expect(events).toEqual([
    expect.stringContaining('NoContact 1 of 1 members unreachable: pod db-0 on node2 is not ready'),
  ]);
  expect(JSON.stringify([events, conditions])).not.toMatch(/ECONNREFUSED|10\.0\.0\.1/);
  expect(logged.join()).toContain('ECONNREFUSED');
});
