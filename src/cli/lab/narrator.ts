import type { KubeClient } from '../../kube/client.ts';
import type { CoreEvent } from '../../kube/object.ts';
import { events } from '../../kube/resource.ts';
import { type Dialect, etcdClusters } from './dialects.ts';
import { follow } from './follow.ts';
import { clusterKey, type EtcdCluster, isSettled, servingOf, titleOf, whatHappened } from './tale.ts';

export interface NarratorOptions {
  readonly client: KubeClient;
  /** The APIs whose clusters are watched. */
  readonly dialects: readonly Dialect[];
  /** When the lab began to run, in milliseconds: what happened before was told then. */
  readonly since: number;
  /** Told what happens, a line at a time. */
  readonly tell: (line: string) => void;
  /** Told that something has changed. */
  readonly onChange?: () => void;
}

/** Watches all EtcdClusters and the Events about them, and tells what happens. */
export class Narrator {
  /** By `clusterKey`. */
  readonly clusters = new Map<string, EtcdCluster>();
  readonly #options: NarratorOptions;
  readonly #settled = new Map<string, () => void>();

  constructor(options: NarratorOptions) {
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

  /** Resolves when a cluster serves and is as it should be; to be asked before `run`. */
  async settled(cluster: EtcdCluster): Promise<void> {
    await new Promise<void>((resolve) => this.#settled.set(clusterKey(cluster), resolve));
  }

  /** What the status of such a cluster says is as old as the last run of the lab, until it is written again. */
  #isFromBefore({ metadata }: EtcdCluster): boolean {
    return Date.parse(metadata.creationTimestamp ?? '') + 1000 < this.#options.since;
  }

  #onCluster(key: string, cluster: EtcdCluster | undefined): void {
    const before = this.clusters.get(key);
    if (cluster === undefined) {
      this.clusters.delete(key);
      if (before !== undefined) this.#options.tell(`EtcdCluster ${titleOf(before)} is gone`);
    } else {
      this.clusters.set(key, cluster);
      for (const line of this.#newsOf(before, cluster)) this.#tell(cluster, line);
    }
    this.#options.onChange?.();
  }

  #newsOf(before: EtcdCluster | undefined, cluster: EtcdCluster): readonly string[] {
    if (before === undefined && this.#isFromBefore(cluster)) return [`when it was last seen: ${servingOf(cluster)}`];
    if (isSettled(cluster)) this.#settled.get(clusterKey(cluster))?.();
    return whatHappened(before, cluster);
  }

  /** Where there are several, the name of the one that is spoken of comes first. */
  #tell(cluster: EtcdCluster, line: string): void {
    this.#options.tell(this.clusters.size > 1 ? `${titleOf(cluster)}: ${line}` : line);
  }

  /** What happened before the lab was started again was told then. */
  #onEvent(event: CoreEvent | undefined): void {
    if (event?.involvedObject.kind !== 'EtcdCluster') return;
    if (timeOf(event) + 1000 < this.#options.since) return;
    const { apiVersion = '', kind, name = '', namespace = '' } = event.involvedObject;
    const cluster = { apiVersion, kind, metadata: { name, namespace } };
    this.#tell(cluster, `event: ${[event.reason, event.message].join(': ')}`);
  }
}

const timeOf = ({ lastTimestamp, metadata }: CoreEvent): number =>
  Date.parse(lastTimestamp ?? metadata.creationTimestamp ?? '');
