import { expect, it } from 'vitest';
import { improbable } from '../../dialects/improbable-v1alpha1/dialect.ts';
import { ApiFailure } from '../../kube/errors.ts';
import { clusterReconciler } from './reconcile.ts';
import type { Tools } from './sources.ts';

const metadata = { name: 'db', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
const object = {
  ...{ apiVersion: 'etcd.improbable.io/v1alpha1', kind: 'EtcdCluster', metadata },
  spec: { replicas: 1, version: '3.5.35', paused: true },
  status: { bootstrap: { members: ['db-0'], token: 't' }, clusterId: 'c1' },
};
const peer = {
  metadata: { ...metadata, name: 'db-0', uid: 'peer', generation: 2 },
  status: { id: '1', role: 'voter', serverVersion: '3.5.35', healthy: true, leader: true, observedGeneration: 1 },
};

/** A pass over a paused cluster where the status of its EtcdPeer cannot be written. */
async function passWhere(failure: ApiFailure) {
  const written: string[] = [];
  const events: object[] = [];
  const patch = async ({ plural }: { plural: string }, _: unknown, { body }: { body: object }) => {
    if (plural === 'etcdpeers') throw failure;
    written.push(JSON.stringify(body));
  };
  const none = { by: () => [], get: () => undefined };
  const tools = {
    ...{ dialect: improbable, isOurs: () => true, caughtUp: () => true, toldAgo: () => 99, writer: () => ({ patch }) },
    caches: { clusters: { get: () => object }, pods: none, claims: none, services: none, budgets: undefined },
    peers: {
      resource: { plural: 'etcdpeers', kind: 'EtcdPeer' },
      store: { ...none, by: () => [peer] },
      oldFinalizer: 'x',
    },
    ...{ now: () => new Date(0), randomName: String, log: () => undefined, client: none, list: none },
    tell: (_: unknown, told: object) => void events.push(told),
    ...{
      etcd: { keepOnly: () => undefined },
      tidied: new Map(),
      keepsSecrets: false,
      dropsSecrets: false,
      resource: { plural: 'etcdclusters' },
    },
  };
  const outcome = await clusterReconciler(tools as unknown as Tools)('default/db', new AbortController().signal);
  return { outcome, written: written.join(), events };
}

it('an EtcdPeer whose status cannot be written is reported, and fails no pass', async () => {
  const { outcome, written, events } = await passWhere(new ApiFailure('rejected', 'a webhook says no'));
  expect(outcome).toMatchObject({ is: 'again', waitsFor: 'Paused' });
  expect(written).toContain('a webhook says no');
  expect(events).toContainEqual({ type: 'Warning', reason: 'StepFailed', message: 'a webhook says no' });
});

it('without the optional right to write the status of EtcdPeers, a pass is as any other', async () => {
  const { outcome, written, events } = await passWhere(new ApiFailure('forbidden', 'may not patch etcdpeers/status'));
  expect(outcome).toMatchObject({ is: 'again', waitsFor: 'Paused' });
  expect(written).not.toContain('may not patch');
  expect(JSON.stringify(events)).not.toContain('may not patch');
});
