import { coreos } from '../../../src/apis/coreos-v1beta2/dialect.ts';
import { clustersOf } from '../../../src/operator/wiring/served.ts';
import { ApiServer } from '../api/api-server.ts';
import type { FaultSource } from '../api/faults.ts';
import type { EtcdGroup } from '../etcd/group.ts';
import { Network } from '../etcd/network.ts';
import { SimulatedNodes } from '../nodes/nodes.ts';
import { Addresses } from '../nodes/pod-runner.ts';
import { Volumes } from '../nodes/volumes.ts';
import { Scheduler } from '../world/scheduler.ts';
import { Trace } from '../world/trace.ts';
import { Violations } from '../world/violations.ts';
import { Oracles } from './oracles.ts';

/** The resource of the simulated API. */
export const clusters = clustersOf(coreos);

/** Everything but the operator: time, API server, network, etcd, nodes, and the oracles that watch all of it. */
export class World {
  readonly scheduler: Scheduler;
  readonly trace: Trace;
  readonly violations: Violations;
  readonly api: ApiServer;
  readonly network: Network;
  readonly groups = new Map<bigint, EtcdGroup>();
  readonly volumes: Volumes;
  readonly nodes: SimulatedNodes;
  readonly oracles: Oracles;
  readonly faults: FaultSource;
  /** The sizes that the spec has asked for, with the times. */
  readonly #sizes: { readonly at: number; readonly size: number }[] = [];

  constructor(
    seed: number,
    { faultsOf, isTraced }: { faultsOf: (scheduler: Scheduler) => FaultSource; isTraced: boolean },
  ) {
    this.scheduler = new Scheduler(seed);
    this.trace = new Trace(this.scheduler, isTraced);
    this.violations = new Violations(this.trace);
    this.api = new ApiServer(this.scheduler);
    this.network = new Network(() => this.scheduler.now);
    this.network.onChange = () => {
      for (const group of this.groups.values()) group.settle();
    };
    this.volumes = new Volumes(this.api, this.scheduler);
    this.faults = faultsOf(this.scheduler);
    this.nodes = new SimulatedNodes({
      scheduler: this.scheduler,
      network: this.network,
      violations: this.violations,
      trace: this.trace,
      groups: this.groups,
      api: this.api,
      volumes: this.volumes,
      addresses: new Addresses(),
    });
    this.oracles = new Oracles(this);
  }

  noteSize(size: number): void {
    this.#sizes.push({ at: this.scheduler.now, size });
  }

  /** The smallest size that the spec has asked for lately: a pass may have begun with an older spec. */
  leastWantedSize(): number {
    const since = this.scheduler.now - 60_000;
    const current = this.#sizes.findLastIndex(({ at }) => at <= since);
    return Math.min(...this.#sizes.slice(Math.max(0, current)).map(({ size }) => size));
  }

  /** The etcd cluster of an EtcdCluster: the one that has formed. */
  groupOf(uid: string): EtcdGroup | undefined {
    return [...this.groups.values()].find(({ owner, hasFormed }) => hasFormed && owner.endsWith(`.${uid}`));
  }
}
