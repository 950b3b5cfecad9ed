import { describe, expect, it } from 'vitest';
import { samplePod } from '../../../../test/support/sample-objects.ts';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import { Failure } from '../../../std/failure.ts';
import type { ControllerContext } from '../../shared/context.ts';
import { clusterReconciler } from '../reconcile.ts';
import { confirmFresh, StaleObservation } from './freshness.ts';

const object = {
  ...{ apiVersion: 'etcd.database.coreos.com/v1beta2', kind: 'EtcdCluster' },
  metadata: { name: 'db', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
  spec: { size: 1, version: '3.5.35' },
  status: { clusterId: 'c', bootstrap: { members: ['db-0'], token: 't' } },
};
const peerURLs = ['http://db-0.db.default.svc:2380'];
const members = [{ id: 1n, name: 'db-0', isLearner: false, clientURLs: ['http://db-0:2379'], peerURLs }];
const status = { memberId: 1n, clusterId: 12n, leader: 1n, version: '3.5.35', errors: [], raftIndex: 9n };
const annotations = { 'etcd.database.coreos.com/initial-cluster': 'it-has-lost-its-data=' };

/** A cluster with an orphaned pod. Each write of the upkeep takes this long. */
function clusterWhereWritesTake(millis: number) {
  const now = { millis: 0, isLate: false, isUnreadable: false, untilPlanned: 0 };
  const done: string[] = [];
  const etcd = { status: async () => ({ ...status, isLearner: false }), memberList: async () => members };
  const pods = ['db-0', 'db-9'].map((name, index) => ({
    ...samplePod(name, 1, { annotations }),
    spec: { containers: [{ name: 'etcd', image: 'quay.io/coreos/etcd:v3.5.35' }] },
    status: {
      containerStatuses: [{ name: 'etcd', restartCount: 0, state: { running: {} } }],
      conditions: [{ type: 'Ready', status: 'True' }],
      ...(index === 0 ? { podIP: '10.0.0.1' } : {}),
    },
  }));
  const nothing = { by: () => [], get: () => undefined };
  const writer = {
    create: async ({ plural }: { plural: string }) => {
      now.millis += millis;
      done.push(`create ${plural}`);
    },
    patch: async () => undefined,
    remove: async ({ plural }: { plural: string }) => void done.push(`remove ${plural}`),
  };
  const context = {
    ...{
      dialect: coreos,
      isOurs: () => true,
      caughtUp: () => !now.isLate,
      secondsSinceStatusWrite: () => 0,
      writer: () => writer,
    },
    caches: {
      clusters: { get: () => object },
      pods: {
        by: (index: string) => {
          if (now.isUnreadable) throw new Failure('unreachable', 'the API server is unreachable');
          return index === 'owner' ? pods : [];
        },
      },
      ...{ claims: nothing, services: nothing, budgets: undefined },
    },
    now: () => {
      now.millis += now.untilPlanned; // read before members are asked, and again for the plan
      return new Date(0);
    },
    ...{ monotonic: () => now.millis, randomName: String, log: () => undefined },
    ...{
      absentSecrets: new Map(),
      mayWriteSecrets: false,
      mayDeleteSecrets: false,
      leads: () => true,
      recordEvent: () => undefined,
    },
    ...{ etcd: { to: () => etcd, keepOnly: () => undefined }, client: { get: async () => undefined } },
  };
  const reconcile = clusterReconciler(context as unknown as ControllerContext);
  const pass = async () => {
    done.length = 0;
    const outcome = await reconcile('default/db', new AbortController().signal);
    return { done: [...done], outcome };
  };
  return { now, pass };
}

const upkeep = ['create services', 'create services'];

describe('a disruptive step', () => {
  it('is taken after a short upkeep', async () => {
    const { pass } = clusterWhereWritesTake(100);
    expect(await pass()).toMatchObject({ done: [...upkeep, 'remove pods'] });
  });

  it('is not taken on an observation older than 5 s: the next pass takes it without upkeep', async () => {
    const { pass, now } = clusterWhereWritesTake(4_000);
    const again = { is: 'requeue', waitsFor: 'retry after: conflict' };
    expect(await pass()).toMatchObject({ done: upkeep, outcome: again });
    now.isLate = true; // the caches do not show the upkeep yet
    expect(await pass()).toMatchObject({ done: [] });
    now.isLate = false;
    now.isUnreadable = true;
    expect(await pass()).toMatchObject({ done: [], outcome: { is: 'failed' } });
    now.isUnreadable = false;
    expect(await pass()).toMatchObject({ done: ['remove pods'], outcome: { is: 'requeue' } });
    expect(await pass()).toMatchObject({ done: upkeep, outcome: again });
  });

  it('is not taken if more than 5 s pass between the answers of members and the plan', async () => {
    const { pass, now } = clusterWhereWritesTake(0);
    now.untilPlanned = 6_000;
    expect(await pass()).toMatchObject({ done: upkeep });
    now.untilPlanned = 0;
    expect(await pass()).toMatchObject({ done: ['remove pods'] });
  });
});

it.each([
  'remove-member',
  'stop-member-pod',
  'delete-member-pod',
  'delete-volume',
  'change-image',
  'transfer-leadership',
  'update-peer-url',
  'add-member',
  'promote-member',
] as const)('the step %s needs an observation of at most 5 s', (kind) => {
  const taking = (age: number) => () =>
    confirmFresh({ kind } as never, { observedAt: 1_000, upkeep: {} }, { monotonic: () => 1_000 + age });
  expect(taking(5_000)).not.toThrow();
  expect(taking(5_001)).toThrow(StaleObservation);
});
