import { randomUUID } from 'node:crypto';
import type { KubeClient } from '../kube/client.ts';
import type { Lease, Stored } from '../kube/object.ts';
import { leases } from '../kube/resource.ts';
import { Failure, unless } from '../std/failure.ts';
import { type Clock, pause } from './clock.ts';

export interface LeaseOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'update'>;
  readonly namespace: string;
  readonly name: string;
  /** The holderIdentity, such as the pod name. An annotation distinguishes processes with the same identity. */
  readonly identity: string;
  readonly clock: Clock;
  /** Called for failed attempts. They are retried until the renew deadline. */
  readonly onFailure: (failure: Failure) => void;
  /** Called first when leadership is lost. The process may exit here. */
  readonly onLost?: ((failure: Failure) => void) | undefined;
  /** How long other candidates wait for a leader that does not renew. */
  readonly durationSeconds?: number;
  /**
   * How long a leader works without a renewal. Shorter than the duration, so that the leader stops before another
   * starts.
   */
  readonly renewDeadlineSeconds?: number;
  readonly retrySeconds?: number;
}

/**
 * Leadership, which can be lost. A lease is no lock: time passes between the check and the write. Every write must
 * therefore be safe with two leaders.
 */
export interface Leadership {
  /** Aborts when leadership is lost. */
  readonly lost: AbortSignal;
  /** Compares with the clock, so the result is right after a pause of the process, before any timer fires. */
  readonly holds: () => boolean;
}

/** Names the process that holds the lease. Two processes may have the same identity; only one may lead. */
const processAnnotation = 'etcd-operator/process';

/** How often the guard checks for a missed renewal or a paused process. */
const tickMillis = 500;

/**
 * Acquires the lease, then runs `work` and renews the lease meanwhile. After a stop `work` ends by itself, and the
 * lease is released so that the next leader need not wait for its expiry.
 *
 * Throws after `work` has ended if leadership was lost. The process should then exit: its open requests may conflict
 * with the new leader.
 */
export async function lead(
  options: LeaseOptions,
  work: (leadership: Leadership) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const candidate = new Candidate(options);
  if (!(await candidate.acquire(signal))) return;
  const [stop, lost] = [new AbortController(), new AbortController()];
  const lose = (failure: Failure): void => {
    options.onLost?.(failure);
    lost.abort(failure);
  };
  const term = { stop: stop.signal, lost: lost.signal, lose };
  lost.signal.addEventListener('abort', () => stop.abort(), { once: true });
  const keeping = Promise.all([candidate.renew(term), candidate.guard(term)]);
  try {
    await work({ lost: lost.signal, holds: () => !lost.signal.aborted && candidate.isFresh() });
  } catch (thrown) {
    lost.signal.throwIfAborted(); // the loss is the cause; the error of `work` is a consequence
    throw thrown;
  } finally {
    stop.abort();
    await keeping;
    if (!lost.signal.aborted) await candidate.release();
  }
  lost.signal.throwIfAborted();
}

/** The time from acquiring the lease to losing or releasing it. */
interface Term {
  readonly stop: AbortSignal;
  readonly lost: AbortSignal;
  readonly lose: (failure: Failure) => void;
}

const inSeconds = (millis: number): string => `${(millis / 1000).toFixed(1)} s`;

type Attempt = 'ours' | 'taken' | 'unknown';

class Candidate {
  readonly #options: LeaseOptions;
  readonly #process = randomUUID();
  readonly #durationSeconds: number;
  readonly #deadlineMillis: number;
  readonly #retryMillis: number;
  /** The last known lease, and the local time of its last change. Timestamps of other machines are not trusted. */
  #seen: { readonly lease: Stored<Lease>; readonly at: number } | undefined;
  /**
   * The time at which the last successful renewal was sent, by both clocks. Other candidates count from a later time.
   */
  #renewed = { at: Number.NEGATIVE_INFINITY, wall: 0 };
  /** The time of the last tick of `guard`. */
  #tickedAt = Number.NEGATIVE_INFINITY;

  constructor(options: LeaseOptions) {
    const { durationSeconds = 15, renewDeadlineSeconds = 10, retrySeconds = 2 } = options;
    this.#options = options;
    this.#durationSeconds = durationSeconds;
    this.#deadlineMillis = renewDeadlineSeconds * 1000;
    this.#retryMillis = retrySeconds * 1000;
  }

  /** True if the last renewal is recent enough and the process was not paused. */
  isFresh(): boolean {
    const isRenewed = this.#options.clock.monotonic() - this.#renewed.at < this.#deadlineMillis;
    return isRenewed && this.#pauseReason() === undefined;
  }

  /** Describes a pause of the process or the machine, during which another candidate may have taken the lease. */
  #pauseReason(): string | undefined {
    const { clock } = this.#options;
    const lateMillis = clock.monotonic() - this.#tickedAt - tickMillis;
    const aheadMillis = clock.now().getTime() - this.#renewed.wall - (clock.monotonic() - this.#renewed.at);
    const isLong = (millis: number): boolean => millis > this.#deadlineMillis / 3;
    if (isLong(lateMillis)) return `this process was paused for ${inSeconds(lateMillis)}`;
    // The monotonic clock stops while a virtual machine is suspended. A wall clock set forward looks the same:
    // leadership is then lost without need, which is harmless.
    if (isLong(aheadMillis))
      return `this machine was suspended or its clock was set forward by ${inSeconds(aheadMillis)}`;
    return undefined;
  }

  /** Tries until this process holds the lease. False if stopped before. */
  async acquire(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      if ((await this.#attempt(signal)) === 'ours') return true;
      // Jitter keeps candidates from asking all at once.
      await pause(this.#options.clock, this.#retryMillis * (1 + this.#options.clock.random() / 5), signal);
    }
    return false;
  }

  async renew({ stop, lost, lose }: Term): Promise<void> {
    for (;;) {
      await pause(this.#options.clock, this.#retryMillis, stop);
      if (stop.aborted) return;
      const paused = this.#pauseReason(); // checked first: a renewal would hide the pause from `guard`
      if (paused !== undefined) return lose(this.#loss('unreachable', paused));
      // `stop` does not abort this request: `release` must know whether the renewal was written.
      if ((await this.#attempt(lost)) === 'taken') return lose(this.#loss('conflict', `${this.#holder()} took it`));
    }
  }

  /** Ends leadership when the renew deadline passes or the process was paused. */
  async guard({ stop, lose }: Term): Promise<void> {
    const { clock } = this.#options;
    while (!stop.aborted) {
      this.#tickedAt = clock.monotonic();
      await pause(clock, tickMillis, stop);
      if (stop.aborted || this.isFresh()) continue;
      return lose(this.#loss('unreachable', this.#pauseReason() ?? 'it could not be renewed in time'));
    }
  }

  /** Releases the lease. If that fails, other candidates wait for its expiry. */
  async release(): Promise<void> {
    const { client, namespace, name } = this.#options;
    const call = { timeoutSeconds: this.#deadlineMillis / 4000 };
    try {
      const lease = this.#seen?.lease ?? (await client.get(leases, { namespace, name }, call));
      if (!this.#isHeldBy(lease)) return;
      const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: this.#time() };
      await client.update(leases, { ...lease, spec }, call);
    } catch (thrown) {
      this.#options.onFailure(Failure.from(thrown));
    }
  }

  async #attempt(signal: AbortSignal): Promise<Attempt> {
    try {
      return await this.#take(signal);
    } catch (thrown) {
      const failure = Failure.from(thrown);
      // Our write may or may not be stored, so the next attempt reads the lease. The lease of another holder is
      // kept: its expiry counts from the time it was first seen.
      if (this.#isOurs()) this.#seen = undefined;
      const wasSecond = failure.kind === 'conflict';
      if (!signal.aborted && !wasSecond) this.#options.onFailure(failure);
      return 'unknown';
    }
  }

  async #take(signal: AbortSignal): Promise<Attempt> {
    const { client, clock, namespace, name } = this.#options;
    const call = { signal, timeoutSeconds: this.#deadlineMillis / 2000 };
    if (!this.#isOurs())
      this.#observe(await unless('not-found', client.get(leases, { namespace, name }, call), undefined));
    const [began, wall] = [clock.monotonic(), clock.now().getTime()];
    const lease = this.#seen?.lease;
    if (lease !== undefined && this.#isTaken()) return 'taken';
    const wanted = this.#mine(lease);
    const written = await (lease === undefined
      ? client.create(leases, wanted, call)
      : client.update(leases, wanted, call));
    this.#seen = { lease: written, at: began };
    this.#renewed = { at: began, wall };
    return 'ours';
  }

  #observe(lease: Stored<Lease> | undefined): void {
    const hasChanged = lease?.metadata.resourceVersion !== this.#seen?.lease.metadata.resourceVersion;
    if (lease === undefined) this.#seen = undefined;
    else if (hasChanged) this.#seen = { lease, at: this.#options.clock.monotonic() };
  }

  #isOurs(): boolean {
    return this.#seen !== undefined && this.#isHeldBy(this.#seen.lease);
  }

  #isHeldBy({ metadata, spec }: Stored<Lease>): boolean {
    const isOfProcess = metadata.annotations?.[processAnnotation] === this.#process;
    return isOfProcess && spec?.holderIdentity === this.#options.identity;
  }

  #holder(): string {
    const { identity } = this.#options;
    const holder = this.#seen?.lease.spec?.holderIdentity;
    return holder === identity ? `another process with the identity ${identity}` : 'another holder';
  }

  /** True if another process holds the lease and it has not expired. */
  #isTaken(): boolean {
    if (this.#seen === undefined || this.#isOurs()) return false;
    const { holderIdentity, leaseDurationSeconds = this.#durationSeconds } = this.#seen.lease.spec ?? {};
    const expires = this.#seen.at + leaseDurationSeconds * 1000;
    return Boolean(holderIdentity) && this.#options.clock.monotonic() < expires;
  }

  /** The lease with this process as holder, at the last seen resourceVersion: a concurrent write causes a conflict. */
  #mine(lease: Stored<Lease> | undefined): Lease {
    const { namespace, name, identity } = this.#options;
    const now = this.#time();
    const holding = { holderIdentity: identity, leaseDurationSeconds: this.#durationSeconds, renewTime: now };
    const annotations = { ...lease?.metadata.annotations, [processAnnotation]: this.#process };
    const fresh = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name, annotations } };
    if (lease === undefined) return { ...fresh, spec: { ...holding, acquireTime: now, leaseTransitions: 0 } };
    if (this.#isOurs()) return { ...lease, spec: { ...lease.spec, ...holding } };
    const leaseTransitions = (lease.spec?.leaseTransitions ?? 0) + 1;
    const metadata = { ...lease.metadata, annotations };
    return { ...lease, metadata, spec: { ...lease.spec, ...holding, acquireTime: now, leaseTransitions } };
  }

  /** The API requires microseconds. */
  #time(): string {
    return this.#options.clock.now().toISOString().replace('Z', '000Z');
  }

  #loss(kind: 'conflict' | 'unreachable', why: string): Failure {
    const { namespace, name } = this.#options;
    return new Failure(kind, `lost the lease ${namespace}/${name}: ${why}`);
  }
}
