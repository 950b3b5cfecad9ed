import type { KubeClient } from '../../kube/client.ts';
import type { CoreEvent } from '../../kube/object.ts';
import { events, namespaced } from '../../kube/resource.ts';
import { follow } from './follow.ts';
import { type EtcdCluster, isSettled, servingOf, whatHappened } from './tale.ts';

export const etcdClusters = namespaced<EtcdCluster>({
  group: 'etcd.database.coreos.com',
  version: 'v1beta2',
  plural: 'etcdclusters',
  kind: 'EtcdCluster',
});

export interface NarratorOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  /** Told what happens, a line at a time. */
  readonly tell: (line: string) => void;
  /** Told that something has changed. */
  readonly onChange?: () => void;
}

/** Watches all EtcdClusters of a namespace and the Events about them, and tells what happens. */
export class Narrator {
  readonly clusters = new Map<string, EtcdCluster>();
  readonly #options: NarratorOptions;
  readonly #since = Date.now();
  readonly #settled = new Map<string, () => void>();

  constructor(options: NarratorOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { client, namespace } = this.#options;
    await Promise.all([
      follow(etcdClusters, { client, namespace, onChange: (...change) => this.#onCluster(...change) }, signal),
      follow(events, { client, namespace, onChange: (_, event) => this.#onEvent(event) }, signal),
    ]);
  }

  /** Resolves when a cluster serves and is as it should be; to be asked before `run`. */
  async settled(name: string): Promise<void> {
    await new Promise<void>((resolve) => this.#settled.set(name, resolve));
  }

  /** What the status of such a cluster says is as old as the last run of the lab, until it is written again. */
  #isFromBefore({ metadata }: EtcdCluster): boolean {
    return Date.parse(metadata.creationTimestamp ?? '') + 1000 < this.#since;
  }

  #onCluster(name: string, cluster: EtcdCluster | undefined): void {
    const several = this.clusters.size > 1 ? `${name}: ` : '';
    if (cluster === undefined) {
      this.clusters.delete(name);
      this.#options.tell(`EtcdCluster ${name} is gone`);
    } else {
      for (const line of this.#newsOf(name, cluster)) this.#options.tell(`${several}${line}`);
      this.clusters.set(name, cluster);
    }
    this.#options.onChange?.();
  }

  #newsOf(name: string, cluster: EtcdCluster): readonly string[] {
    const before = this.clusters.get(name);
    if (before === undefined && this.#isFromBefore(cluster))
      return [`${name}, when it was last seen: ${servingOf(cluster)}`];
    if (isSettled(cluster)) this.#settled.get(name)?.();
    return whatHappened(before, cluster);
  }

  /** What happened before the lab was started again was told then. */
  #onEvent(event: CoreEvent | undefined): void {
    if (event?.involvedObject.kind !== 'EtcdCluster') return;
    const when = Date.parse(event.lastTimestamp ?? event.metadata.creationTimestamp ?? '');
    if (when + 1000 < this.#since) return;
    this.#options.tell(`event: ${event.reason ?? ''}: ${event.message ?? ''}`);
  }
}
