import type { KubeClient } from '../../kube/client.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import { leases, namespaces, nodes } from '../../kube/resource.ts';
import { type Clock, pause } from '../../runtime/clock.ts';
import type { Runnable } from '../../runtime/manager.ts';
import { Failure } from '../../std/failure.ts';
import type { Kubelet } from './kubelet.ts';
import { nodeObject, nodeStatus } from './node-object.ts';
import { timeOf } from './pod/status.ts';

export const leaseNamespace = 'kube-node-lease';

export interface HeartbeatOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly kubelet: Kubelet;
  readonly number: number;
  readonly everySeconds: number;
  /** Whether the API says that the node is ready. It may have been given up while we were slow. */
  readonly isKnownReady: () => boolean;
  readonly onTrouble: (failure: Failure) => void;
}

/** Registers a node, and shows again and again that it is alive, unless it is stopped. */
export const heartbeat =
  (options: HeartbeatOptions): Runnable =>
  async (signal) => {
    const { clock, kubelet, everySeconds, onTrouble } = options;
    while (!signal.aborted) {
      if (!kubelet.isStopped) await beat(options).catch((thrown: unknown) => onTrouble(Failure.from(thrown)));
      await pause(clock, everySeconds * 1000, signal);
    }
  };

async function beat(options: HeartbeatOptions): Promise<void> {
  await renew(options);
  if (!options.isKnownReady()) await register(options);
}

async function register({ client, clock, kubelet: { name }, number }: HeartbeatOptions): Promise<void> {
  await created(client.create(nodes, nodeObject(name)));
  const time = timeOf(clock.now());
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
    const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: leaseNamespace } };
    await created(client.create(namespaces, home));
    await created(client.create(leases, lease));
  });
}

/** That it is there already is as good. */
async function created(creation: Promise<unknown>): Promise<void> {
  await creation.catch((thrown: unknown) => {
    if (!isAlreadyExists(thrown)) throw thrown;
  });
}
