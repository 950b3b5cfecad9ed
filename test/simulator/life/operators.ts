import { coreos } from '../../../src/apis/coreos-v1beta2/dialect.ts';
import { RollTurns } from '../../../src/controllers/cluster/roll-turns.ts';
import type { Log } from '../../../src/operator/telemetry/log.ts';
import { clusterControllers } from '../../../src/operator/wiring/cluster-controllers.ts';
import { lead } from '../../../src/runtime/lease.ts';
import type { Outcome } from '../../../src/runtime/outcome.ts';
import { simulatedClient } from '../api/kube-client.ts';
import { simulatedSessions } from '../etcd/session.ts';
import { Process } from '../world/process.ts';
import type { World } from './world.ts';

/** The processes of the operator: the real controllers, queue, caches, lease and Events, on simulated ends. */
export class Operators {
  readonly #world: World;
  readonly #running = new Set<Process>();
  #started = 0;
  /** True while no new process may be started. */
  isDown = false;

  constructor(world: World) {
    this.#world = world;
  }

  get running(): readonly Process[] {
    return [...this.#running];
  }

  /** Starts a process, as the Deployment does. */
  start(): void {
    const { scheduler, trace, api, network, faults, oracles } = this.#world;
    const process = new Process(`operator-${++this.#started}`, scheduler);
    this.#running.add(process);
    trace.add(process.name, () => 'starts');
    const parts = { scheduler, trace, api, network, faults, process, crash: this.crash };
    const client = simulatedClient({ ...parts, onWrite: oracles.onWrite });
    const openSession = simulatedSessions({ ...parts, ...oracles.ofEtcd });
    const never = new AbortController().signal;
    const onFailure = (): void => undefined;
    const controllers = {
      ...{ client, clock: process, scope: undefined, workers: 2, identity: process.name, openSession, onFailure },
      ...{ dialects: [{ name: 'coreos', dialect: coreos }] as const, isOurs: () => true, dialerTo: undefined },
      ...{ withBudgets: true, mayWriteSecrets: true, mayDeleteSecrets: true, onCaches: () => undefined },
      rollTurns: new RollTurns(20, process),
      log: this.#logOf(process),
      onOutcome: (key: string, outcome: Outcome) => this.#note(process, key, outcome),
    };
    const lease = {
      ...{ client, namespace: 'operators', name: 'etcd-operator', identity: process.name, clock: process, onFailure },
      onLost: () => this.crash(process),
    };
    lead(lease, ({ lost, holds }) => clusterControllers({ ...controllers, leads: holds })(lost), never).catch(
      (thrown: unknown) => this.#died(process, thrown),
    );
  }

  /** Ends a process without warning. The Deployment starts another. */
  readonly crash = (process: Process): void => {
    if (!this.#running.delete(process)) return;
    const { scheduler, trace } = this.#world;
    process.kill();
    trace.add(process.name, () => 'dies');
    scheduler.after(scheduler.random.between(500, 4_000), () => this.replace());
  };

  /** Starts a process if none is left. */
  replace(): void {
    if (this.#running.size === 0 && !this.isDown) this.start();
  }

  #died(process: Process, thrown: unknown): void {
    if (process.isDead) return;
    this.#world.violations.add(
      'bug',
      `${process.name} ended: ${thrown instanceof Error ? thrown.stack : String(thrown)}`,
    );
  }

  #note(process: Process, key: string, outcome: Outcome): void {
    if (outcome.is !== 'failed') return;
    const { kind, message } = outcome.failure;
    this.#world.trace.add(process.name, () => `pass of ${key} failed: ${message}`);
    if (kind === 'bug') this.#world.violations.add('bug', `${key}: ${outcome.failure.stack}`);
  }

  #logOf({ name }: Process): Log {
    const { trace } = this.#world;
    const line = (fields: object, message: string): void =>
      trace.add(name, () => `${message} ${Object.values(fields).join(' · ')}`);
    return { debug: () => undefined, info: line, warn: line, error: line } as unknown as Log;
  }
}
