import { setTimeout as realTime } from 'node:timers/promises';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import type { ClusterDialect } from '../../src/apis/common/dialect.ts';
import { coreos } from '../../src/apis/coreos-v1beta2/dialect.ts';
import { improbable } from '../../src/apis/improbable-v1alpha1/dialect.ts';
import { RollTurns } from '../../src/controllers/cluster/roll-turns.ts';
import { clusterController } from '../../src/operator/wiring/clusters.ts';
import { Failure } from '../../src/std/failure.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { SimulatedApi } from './simulated-api.ts';

type Status = (pod: { readonly metadata: { readonly name: string } }) => object;

const state = (waiting: object): object => [{ name: 'etcd', restartCount: 0, state: waiting }];
const ready = (status: 'True' | 'False'): object => [
  { type: 'Ready', status, lastTransitionTime: '2026-01-01T00:00:00Z' },
];
/** The status of a pod with an image that cannot be pulled. */
const stuck: Status = () => ({
  ...{ phase: 'Pending', conditions: ready('False') },
  containerStatuses: state({ waiting: { reason: 'ImagePullBackOff', message: 'no such image' } }),
});
/** The status of a running pod with an unreachable etcd. */
const unreachable: Status = () => ({
  ...{ phase: 'Running', podIP: '127.0.0.1', conditions: ready('True') },
  containerStatuses: state({ running: { startedAt: '2026-01-01T00:00:00Z' } }),
});

/** Runs the cluster controller of one API with a simulated API server and clock. */
class ControllerSimulation {
  readonly api = new SimulatedApi();
  readonly clock = new VirtualClock();
  passes = 0;
  /** True if passes generate keys or open sockets, which takes real time. */
  passesAreSlow = false;
  readonly #stop = new AbortController();
  readonly #status: Status;
  readonly #controller: ReturnType<typeof clusterController>;
  readonly #ended: Promise<void>;

  constructor(dialect: ClusterDialect, status: Status) {
    this.#status = status;
    this.#controller = clusterController(dialect, {
      ...{ client: this.api.client, clock: this.clock, scope: 'n', workers: 16, identity: 'us' },
      ...{ isOurs: () => true, withBudgets: true, mayWriteSecrets: true, mayDeleteSecrets: true },
      dialerTo: () => async () => {
        throw new Failure('unreachable', 'connection refused');
      },
      ...{ leads: undefined, log: pino({ level: 'silent' }), onFailure: () => undefined },
      rollTurns: new RollTurns(20, this.clock),
      onOutcome: () => void this.passes++,
    });
    this.#ended = this.#controller.run([this.#controller], this.#stop.signal);
  }

  get remembered(): Readonly<Record<string, number>> {
    return this.#controller.remembered();
  }

  /** Advances the clock in steps of 250 ms and sets the status of new pods. */
  async pass(seconds: number): Promise<void> {
    for (let i = 0; i < seconds * 4; i++) {
      for (const pod of this.api.all('pods').filter(({ status }) => status === undefined))
        this.api.put('pods', { ...pod, status: this.#status(pod) });
      await this.clock.advance(250);
      if (this.passesAreSlow) await realTime(5);
    }
  }

  /** Counts the passes and Secret reads of the next minute. */
  async minute(): Promise<{ readonly passes: number; readonly secretsRead: number }> {
    const [passes, secretsRead] = [this.passes, this.api.count('get secrets')];
    await this.pass(60);
    return { passes: this.passes - passes, secretsRead: this.api.count('get secrets') - secretsRead };
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.pass(1);
    await this.#ended;
  }
}

const inCoreos = (more: object = {}): object => ({
  ...{ apiVersion: 'etcd.database.coreos.com/v1beta2', kind: 'EtcdCluster' },
  metadata: { name: 'db', namespace: 'n' },
  spec: { size: 3, version: '3.5.35', ...more },
});
const inImprobable: object = {
  ...{ apiVersion: 'etcd.improbable.io/v1alpha1', kind: 'EtcdCluster' },
  metadata: { name: 'db', namespace: 'n' },
  spec: {
    ...{ replicas: 3, version: '3.5.35' },
    storage: { volumeClaimTemplate: { resources: { requests: { storage: '1Gi' } } } },
  },
};

describe('a waiting cluster', () => {
  it('with an image that cannot be pulled is reconciled less often over time', async () => {
    const life = new ControllerSimulation(coreos, stuck);
    life.api.put('etcdclusters', inCoreos());
    expect((await life.minute()).passes).toBeLessThan(90);
    await life.pass(180);
    expect((await life.minute()).passes).toBeLessThan(5);
    await life.end();
  });

  it('with managed certificates reads its Secrets once a minute', async () => {
    const life = new ControllerSimulation(coreos, stuck);
    life.api.put('etcdclusters', inCoreos({ TLS: { managed: {} } }));
    life.passesAreSlow = true;
    await life.pass(10);
    life.passesAreSlow = false;
    expect(life.api.all('secrets').length).toBeGreaterThan(1);
    expect((await life.minute()).secretsRead).toBeLessThanOrEqual(6);
    expect((await life.minute()).secretsRead).toBeLessThanOrEqual(6);
    await life.end();
  });

  it('with a missing Secret reads it every second at first and twice a minute later', async () => {
    const life = new ControllerSimulation(coreos, stuck);
    const member = { peerSecret: 'p', serverSecret: 's' };
    life.api.put('etcdclusters', inCoreos({ TLS: { static: { operatorSecret: 'o', member } } }));
    await life.pass(10);
    expect(life.api.count('get secrets')).toBeGreaterThan(20);
    await life.pass(300);
    const { passes, secretsRead } = await life.minute();
    expect(passes).toBeLessThan(5);
    expect(secretsRead).toBeGreaterThanOrEqual(6);
    await life.end();
  });

  it('is reconciled at once and often again after a pod changes, but not after a status change', async () => {
    const life = new ControllerSimulation(coreos, stuck);
    life.api.put('etcdclusters', inCoreos());
    await life.pass(300);
    const before = life.passes;
    const [pod] = life.api.all('pods');
    life.api.put('pods', { ...pod, status: { ...stuck({ metadata: { name: '' } }), reason: 'another' } });
    await life.pass(5);
    expect(life.passes - before).toBeGreaterThan(8);
    await life.pass(300);
    const [cluster] = life.api.all('etcdclusters');
    const later = life.passes;
    life.api.put('etcdclusters', { ...cluster, status: { ...(cluster?.status as object), note: 'by another' } });
    await life.pass(5);
    expect(life.passes - later).toBeGreaterThan(0); // one pass runs, but a status change does not reset the backoff
    expect(life.passes - later).toBeLessThan(5);
    await life.end();
  });
});

describe('memory entries of a cluster', () => {
  it.each([
    { of: 'coreos, with certificates', dialect: coreos, cluster: inCoreos({ TLS: { managed: {} } }), status: stuck },
    { of: 'coreos, unreachable', dialect: coreos, cluster: inCoreos(), status: unreachable },
    { of: 'improbable, unreachable', dialect: improbable, cluster: inImprobable, status: unreachable },
  ])('are dropped when the cluster is deleted: $of', async ({ dialect, cluster, status }) => {
    const life = new ControllerSimulation(dialect, status);
    life.passesAreSlow = true;
    await life.pass(1);
    const empty = life.remembered;
    expect(Object.values(empty).every((size) => size === 0)).toBe(true);
    life.api.put('etcdclusters', cluster);
    await life.pass(20);
    expect(life.remembered).toMatchObject({ 'status-writes': 1, watched: 1 });
    expect(life.remembered['queue']).toBeGreaterThan(0);
    life.api.deleteObject('etcdclusters', 'n/db');
    await life.pass(1);
    expect(life.remembered).toEqual(empty);
    expect(life.clock.planned).toBe(0);
    await life.end();
  });
});
