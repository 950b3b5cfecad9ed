import type { KubeClient } from '../../src/kube/client.ts';
import { isAlreadyExists } from '../../src/kube/errors.ts';
import { leases, namespaces, nodes } from '../../src/kube/resource.ts';
import { type Clock, pause } from '../../src/runtime/clock.ts';
import type { Runnable } from '../../src/runtime/manager.ts';
import { Failure } from '../../src/std/failure.ts';
import type { Kubelet } from './kubelet.ts';
import { nodeObject, nodeStatus } from './node-object.ts';
import { formatTime } from './pod/status.ts';

export const leaseNamespace = 'kube-node-lease';

export interface HeartbeatOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly kubelet: Kubelet;
  readonly number: number;
  readonly everySeconds: number;
  /** True if the Node object is ready. The node lifecycle controller may have marked it not ready meanwhile. */
  readonly isNodeReady: () => boolean;
  readonly onFailure: (failure: Failure) => void;
}

/** Registers a node and renews its lease until the signal aborts. A stopped node does not renew. */
export const heartbeat =
  (options: HeartbeatOptions): Runnable =>
  async (signal) => {
    const { clock, kubelet, everySeconds, onFailure } = options;
    while (!signal.aborted) {
      if (!kubelet.isStopped) await beat(options).catch((thrown: unknown) => onFailure(Failure.from(thrown)));
      await pause(clock, everySeconds * 1000, signal);
    }
  };

async function beat(options: HeartbeatOptions): Promise<void> {
  await renew(options);
  if (!options.isNodeReady()) await register(options);
}

async function register({ client, clock, kubelet: { name }, number }: HeartbeatOptions): Promise<void> {
  await createIfAbsent(client.create(nodes, nodeObject(name)));
  const time = formatTime(clock.now());
  const body = { status: nodeStatus(name, number, { now: time, since: time }) };
  await client.patch(nodes, { name }, { type: 'strategic', body, subresource: 'status' });
}

async function renew({ client, clock, kubelet: { name }, everySeconds }: HeartbeatOptions): Promise<void> {
  const renewTime = clock.now().toISOString().replace('Z', '000Z');
  const spec = { holderIdentity: name, leaseDurationSeconds: everySeconds * 4, renewTime };
  const metadata = { name, namespace: leaseNamespace };
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
  await client.patch(leases, metadata, { type: 'merge', body: { spec } }).catch(async (thrown: unknown) => {
    if (Failure.from(thrown).kind !== 'not-found') throw thrown;
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: leaseNamespace } };
    await createIfAbsent(client.create(namespaces, namespace));
    await createIfAbsent(client.create(leases, lease));
  });
}

/** Ignores that the object exists already. */
async function createIfAbsent(creation: Promise<unknown>): Promise<void> {
  await creation.catch((thrown: unknown) => {
    if (!isAlreadyExists(thrown)) throw thrown;
  });
}
