import { setTimeout as realTime } from 'node:timers/promises';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { coreos } from '../../src/dialects/coreos-v1beta2/dialect.ts';
import type { ClusterDialect } from '../../src/dialects/dialect.ts';
import { improbable } from '../../src/dialects/improbable-v1alpha1/dialect.ts';
import { clusterController } from '../../src/main/controller.ts';
import { Failure } from '../../src/std/failure.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { SimulatedApi } from './simulated-api.ts';

type Status = (pod: { readonly metadata: { readonly name: string } }) => object;

const state = (waiting: object): object => [{ name: 'etcd', restartCount: 0, state: waiting }];
const ready = (status: 'True' | 'False'): object => [
  { type: 'Ready', status, lastTransitionTime: '2026-01-01T00:00:00Z' },
];
/** A pod whose image cannot be pulled. */
const stuck: Status = () => ({
  ...{ phase: 'Pending', conditions: ready('False') },
  containerStatuses: state({ waiting: { reason: 'ImagePullBackOff', message: 'no such image' } }),
});
/** A pod whose etcd cannot be reached. */
const unreachable: Status = () => ({
  ...{ phase: 'Running', podIP: '127.0.0.1', conditions: ready('True') },
  containerStatuses: state({ running: { startedAt: '2026-01-01T00:00:00Z' } }),
});

/** The controller of one API, as the operator runs it, with an API server and a clock of its own. */
class Life {
  readonly api = new SimulatedApi();
  readonly clock = new VirtualClock();
  passes = 0;
  /** Keys are made, and sockets fail, in real time. */
  passesAreSlow = false;
  readonly #stop = new AbortController();
  readonly #status: Status;
  readonly #controller: ReturnType<typeof clusterController>;
  readonly #ended: Promise<void>;

  constructor(dialect: ClusterDialect, status: Status) {
    this.#status = status;
    this.#controller = clusterController(dialect, {
      ...{ client: this.api.client, clock: this.clock, scope: 'n', workers: 16, identity: 'us' },
      ...{ isOurs: () => true, withBudgets: true, keepsSecrets: true, dropsSecrets: true },
      wayTo: () => async () => {
        throw new Failure('unreachable', 'no way');
      },
      ...{ leads: undefined, log: pino({ level: 'silent' }), onTrouble: () => undefined },
      onOutcome: () => void this.passes++,
    });
    this.#ended = this.#controller.run([this.#controller], this.#stop.signal);
  }

  get remembered(): Readonly<Record<string, number>> {
    return this.#controller.remembered();
  }

  /** Time goes by in steps of a quarter of a second, and nodes do their part. */
  async pass(seconds: number): Promise<void> {
    for (let i = 0; i < seconds * 4; i++) {
      for (const pod of this.api.all('pods').filter(({ status }) => status === undefined))
        this.api.put('pods', { ...pod, status: this.#status(pod) });
      await this.clock.advance(250);
      if (this.passesAreSlow) await realTime(5);
    }
  }

  /** What a minute costs from now on. */
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

describe('what a cluster costs that waits', () => {
  it('for a person, from the first minute on and later', async () => {
    const life = new Life(coreos, stuck);
    life.api.put('etcdclusters', inCoreos());
    expect((await life.minute()).passes).toBeLessThan(90);
    await life.pass(180);
    expect((await life.minute()).passes).toBeLessThan(5);
    await life.end();
  });

  it('with managed certificates: Secrets are read once a minute', async () => {
    const life = new Life(coreos, stuck);
    life.api.put('etcdclusters', inCoreos({ TLS: { managed: {} } }));
    life.passesAreSlow = true;
    await life.pass(10);
    life.passesAreSlow = false;
    expect(life.api.all('secrets').length).toBeGreaterThan(1);
    expect((await life.minute()).secretsRead).toBeLessThanOrEqual(6);
    expect((await life.minute()).secretsRead).toBeLessThanOrEqual(6);
    await life.end();
  });

  it('for a Secret: that is looked for every second at first, and twice a minute however late it comes', async () => {
    const life = new Life(coreos, stuck);
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

  it('and wakes at once when something happens, to be looked at often again', async () => {
    const life = new Life(coreos, stuck);
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
    expect(life.passes - later).toBeGreaterThan(0); // it is looked at, but a status alone is no progress
    expect(life.passes - later).toBeLessThan(5);
    await life.end();
  });
});

describe('what is remembered of a cluster', () => {
  it.each([
    { of: 'coreos, with certificates', dialect: coreos, cluster: inCoreos({ TLS: { managed: {} } }), status: stuck },
    { of: 'coreos, out of reach', dialect: coreos, cluster: inCoreos(), status: unreachable },
    { of: 'improbable, out of reach', dialect: improbable, cluster: inImprobable, status: unreachable },
  ])('is gone when the cluster is: $of', async ({ dialect, cluster, status }) => {
    const life = new Life(dialect, status);
    life.passesAreSlow = true;
    await life.pass(1);
    const nothing = life.remembered;
    expect(Object.values(nothing).every((size) => size === 0)).toBe(true);
    life.api.put('etcdclusters', cluster);
    await life.pass(20);
    expect(life.remembered).toMatchObject({ told: 1, watched: 1 });
    expect(life.remembered['queue']).toBeGreaterThan(0);
    life.api.vanish('etcdclusters', 'n/db');
    await life.pass(1);
    expect(life.remembered).toEqual(nothing);
    expect(life.clock.planned).toBe(0);
    await life.end();
  });
});
