import { expect, it } from 'vitest';
import { improbable } from '../../../apis/improbable-v1alpha1/dialect.ts';
import { ApiFailure } from '../../../kube/errors.ts';
import type { ControllerContext } from '../../shared/context.ts';
import { clusterReconciler } from '../reconcile.ts';

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

/** A pass over a paused cluster while the status of its EtcdPeer cannot be written. */
async function passWhere(failure: ApiFailure) {
  const written: string[] = [];
  const events: object[] = [];
  const patch = async ({ plural }: { plural: string }, _: unknown, { body }: { body: object }) => {
    if (plural === 'etcdpeers') throw failure;
    written.push(JSON.stringify(body));
  };
  const none = { by: () => [], get: () => undefined };
  const context = {
    ...{
      dialect: improbable,
      isOurs: () => true,
      caughtUp: () => true,
      secondsSinceStatusWrite: () => 99,
      writer: () => ({ patch }),
    },
    caches: { clusters: { get: () => object }, pods: none, claims: none, services: none, budgets: undefined },
    peers: {
      resource: { plural: 'etcdpeers', kind: 'EtcdPeer' },
      store: { ...none, by: () => [peer] },
      oldFinalizer: 'x',
    },
    ...{ now: () => new Date(0), randomName: String, log: () => undefined, client: none, list: none },
    recordEvent: (_: unknown, event: object) => void events.push(event),
    ...{
      etcd: { keepOnly: () => undefined },
      absentSecrets: new Map(),
      mayWriteSecrets: false,
      mayDeleteSecrets: false,
      resource: { plural: 'etcdclusters' },
    },
  };
  const outcome = await clusterReconciler(context as unknown as ControllerContext)(
    'default/db',
    new AbortController().signal,
  );
  return { outcome, written: written.join(), events };
}

it('an EtcdPeer with a status that cannot be written is reported, and fails no pass', async () => {
  const { outcome, written, events } = await passWhere(new ApiFailure('rejected', 'a webhook says no'));
  expect(outcome).toMatchObject({ is: 'requeue', waitsFor: 'Paused' });
  expect(written).toContain('a webhook says no');
  expect(events).toContainEqual({ type: 'Warning', reason: 'StepFailed', message: 'a webhook says no' });
});

it('the missing optional right to write the status of EtcdPeers is not reported', async () => {
  const { outcome, written, events } = await passWhere(new ApiFailure('forbidden', 'may not patch etcdpeers/status'));
  expect(outcome).toMatchObject({ is: 'requeue', waitsFor: 'Paused' });
  expect(written).not.toContain('may not patch');
  expect(JSON.stringify(events)).not.toContain('may not patch');
});
