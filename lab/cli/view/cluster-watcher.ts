import type { KubeClient } from '../../../src/kube/client.ts';
import type { CoreEvent } from '../../../src/kube/object.ts';
import { events } from '../../../src/kube/resource.ts';
import { type Dialect, etcdClusters } from '../dialects.ts';
import { changesOf, clusterKey, type EtcdCluster, isSettled, summaryOf, titleOf } from './cluster-changes.ts';
import { follow } from './follow.ts';

export interface ClusterWatcherOptions {
  readonly client: KubeClient;
  /** The dialects whose clusters are watched. */
  readonly dialects: readonly Dialect[];
  /** The start of the lab, in milliseconds. Earlier events are not reported again. */
  readonly since: number;
  /** Called with each line of the report. */
  readonly print: (line: string) => void;
  /** Called after each change. */
  readonly onChange?: () => void;
}

/** Watches all EtcdClusters and their Events, and reports what changes. */
export class ClusterWatcher {
  /** Clusters by `clusterKey`. */
  readonly clusters = new Map<string, EtcdCluster>();
  readonly #options: ClusterWatcherOptions;
  readonly #settled = new Map<string, () => void>();

  constructor(options: ClusterWatcherOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { client, dialects } = this.#options;
    const clusters = dialects.map((dialect) => {
      const resource = etcdClusters[dialect];
      const keyOf = (key: string): string => `${resource.group} ${key}`;
      const onChange = (key: string, now: EtcdCluster | undefined): void => this.#onCluster(keyOf(key), now);
      return follow({ client, resource, onChange }, signal);
    });
    const onEvent = (_: string, event: CoreEvent | undefined): void => this.#onEvent(event);
    await Promise.all([...clusters, follow({ client, resource: events, onChange: onEvent }, signal)]);
  }

  /** Resolves when a cluster is settled. Call before `run`. */
  async settled(cluster: EtcdCluster): Promise<void> {
    await new Promise<void>((resolve) => this.#settled.set(clusterKey(cluster), resolve));
  }

  /** True for a cluster of an earlier run: its status is stale until it is written again. */
  #isFromBefore({ metadata }: EtcdCluster): boolean {
    return Date.parse(metadata.creationTimestamp ?? '') + 1000 < this.#options.since;
  }

  #onCluster(key: string, cluster: EtcdCluster | undefined): void {
    const before = this.clusters.get(key);
    if (cluster === undefined) {
      this.clusters.delete(key);
      if (before !== undefined) this.#options.print(`EtcdCluster ${titleOf(before)} was deleted`);
    } else {
      this.clusters.set(key, cluster);
      for (const line of this.#linesFor(before, cluster)) this.#report(cluster, line);
    }
    this.#options.onChange?.();
  }

  #linesFor(before: EtcdCluster | undefined, cluster: EtcdCluster): readonly string[] {
    if (before === undefined && this.#isFromBefore(cluster)) return [`last known status: ${summaryOf(cluster)}`];
    if (isSettled(cluster)) this.#settled.get(clusterKey(cluster))?.();
    return changesOf(before, cluster);
  }

  /** Reports a line, with the name of the cluster if there are several. */
  #report(cluster: EtcdCluster, line: string): void {
    this.#options.print(this.clusters.size > 1 ? `${titleOf(cluster)}: ${line}` : line);
  }

  /** Events from before this run are not reported again. */
  #onEvent(event: CoreEvent | undefined): void {
    if (event?.involvedObject.kind !== 'EtcdCluster') return;
    if (timeOf(event) + 1000 < this.#options.since) return;
    const { apiVersion = '', kind, name = '', namespace = '' } = event.involvedObject;
    const cluster = { apiVersion, kind, metadata: { name, namespace } };
    this.#report(cluster, `event: ${[event.reason, event.message].join(': ')}`);
  }
}

const timeOf = ({ lastTimestamp, metadata }: CoreEvent): number =>
  Date.parse(lastTimestamp ?? metadata.creationTimestamp ?? '');
