import { deflateRawSync } from 'node:zlib';
import type { SimulatedObjects, StoredObject } from './simulated-objects.ts';

interface Volume {
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly secret?: { readonly secretName: string; readonly optional?: boolean };
}

const storeProxyRuns = { containerStatuses: [{ name: 'serve-store', state: { running: {} } }] };

const succeededWith = (more: object): object => ({
  ...{ exitCode: 0, message: JSON.stringify({ ok: true, version: '3.6.16', size: 1, ...more }) },
});
const succeeded = succeededWith({});
const killed = { exitCode: 137, reason: 'Error' };
const failed = (message: string): object => ({
  ...{ exitCode: 1, reason: 'Error' },
  message: JSON.stringify({ ok: false, trouble: 'damaged', mayPass: false, message }),
});
const ended = (name: string, terminated: object): object => ({ name, restartCount: 0, state: { terminated } });

/** The backup that agents read. */
interface SimulatedBackup {
  /** The damage that the seed finds; unset for an intact backup. */
  readonly damage?: string;
  /** The cluster in its manifest, reported by agents with --report-cluster. */
  readonly saved?: object;
}

/** Simulates the kubelets: the pods of agents, of store proxies and of the seed. */
export class SimulatedKubelet {
  /** The number of inspection pods that are still to be killed. */
  inspectionsToKill = 0;
  readonly #objects: SimulatedObjects;
  readonly #backup: SimulatedBackup;

  constructor(objects: SimulatedObjects, backup: SimulatedBackup) {
    this.#objects = objects;
    this.#backup = backup;
  }

  /** Starts a pod once it can mount its volumes, and reports how its agents end. */
  run(pod: StoredObject): void {
    if (pod.status !== undefined || !this.#canMount(pod)) return;
    this.#objects.put('pods', { ...pod, status: this.#statusOf(pod) });
  }

  #statusOf(pod: StoredObject): object {
    const { name } = pod.metadata;
    if (name.includes('-inspect-')) return this.#inspectionStatus(pod);
    return name.includes('-store-proxy-')
      ? { phase: 'Running', podIP: '10.0.0.1', ...storeProxyRuns }
      : this.#seedStatus();
  }

  #inspectionStatus(pod: StoredObject): object {
    if (this.inspectionsToKill-- > 0) return { phase: 'Failed', containerStatuses: [ended('inspect', killed)] };
    return { phase: 'Succeeded', containerStatuses: [ended('inspect', succeededWith(this.#reportedCluster(pod)))] };
  }

  #reportedCluster(pod: StoredObject): object {
    const { saved } = this.#backup;
    if (saved === undefined || !JSON.stringify(pod).includes('"--report-cluster"')) return {};
    return { cluster: deflateRawSync(JSON.stringify(saved)).toString('base64') };
  }

  #seedStatus(): object {
    const { damage } = this.#backup;
    if (damage !== undefined)
      return { phase: 'Pending', initContainerStatuses: [ended('fetch-backup', failed(damage))] };
    const initContainerStatuses = [ended('fetch-backup', succeeded)];
    const containerStatuses = [{ name: 'etcd', state: { running: {} } }];
    return { phase: 'Running', podIP: '10.0.0.1', initContainerStatuses, containerStatuses };
  }

  /** True if the pod's PVC and all its required Secrets exist. */
  #canMount({ spec, metadata: { name: own } }: StoredObject): boolean {
    const { volumes = [] } = (spec ?? {}) as { readonly volumes?: readonly Volume[] };
    const needed = volumes.flatMap(({ secret }) =>
      secret === undefined || secret.optional ? [] : [secret.secretName],
    );
    const hasOwn = volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === own);
    const volume = this.#objects.find('persistentvolumeclaims', own);
    if (hasOwn && (volume === undefined || volume.metadata.deletionTimestamp !== undefined)) return false;
    return needed.every((name) => this.#objects.find('secrets', name) !== undefined);
  }
}
