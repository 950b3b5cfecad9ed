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
  /** The holder as users see it, such as the name of the pod. Processes with the same identity are told apart by an annotation. */
  readonly identity: string;
  readonly clock: Clock;
  /** Told of attempts that failed; they are made again as long as there is time. */
  readonly onTrouble: (failure: Failure) => void;
  /** Called when leadership is lost, before anything else hears of it: a process may end itself here. */
  readonly onLost?: ((failure: Failure) => void) | undefined;
  /** How long the others wait for a leader that they do not hear of. */
  readonly durationSeconds?: number;
  /** How long we go on without having renewed. Shorter than the duration: we stop before the others begin. */
  readonly renewDeadlineSeconds?: number;
  readonly retrySeconds?: number;
}

/**
 * The right to lead, which can be lost. It is a courtesy and no lock: between looking at it and acting on it time may
 * pass, so whatever is done under it has to be safe when two do it.
 */
export interface Leadership {
  /** Aborts when leadership is lost. */
  readonly lost: AbortSignal;
  /** Looks at the clock itself: after a pause of the process this is right before any timer has fired. */
  readonly holds: () => boolean;
}

/** Names the process that holds the lease: two processes may have the same identity, and only one of them may lead. */
const processAnnotation = 'etcd-operator/process';

/** How often we look whether time is up, or has stood still for us. */
const tickMillis = 500;

/**
 * Waits until we lead, then works, renewing the lease meanwhile. Told to stop, `work` has to end by itself; then the lease
 * is given back, and the next one need not wait for it to expire. Fails when leadership was lost, as soon as `work` has
 * ended: then it is best to leave the process, because what it still has under way belongs to somebody else now.
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
    lost.signal.throwIfAborted(); // that is why, whatever the work says
    throw thrown;
  } finally {
    stop.abort();
    await keeping;
    if (!lost.signal.aborted) await candidate.release();
  }
  lost.signal.throwIfAborted();
}

/** The time from winning the lease to losing it or giving it back. */
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
  /** The lease as we last saw it, and when we saw it change: the others' clocks are not to be trusted. */
  #seen: { readonly lease: Stored<Lease>; readonly at: number } | undefined;
  /** When we sent the request that last renewed it, by both clocks: the others count from later than this. */
  #renewed = { at: Number.NEGATIVE_INFINITY, wall: 0 };
  /** When `guard` last had its turn. */
  #tickedAt = Number.NEGATIVE_INFINITY;

  constructor(options: LeaseOptions) {
    const { durationSeconds = 15, renewDeadlineSeconds = 10, retrySeconds = 2 } = options;
    this.#options = options;
    this.#durationSeconds = durationSeconds;
    this.#deadlineMillis = renewDeadlineSeconds * 1000;
    this.#retryMillis = retrySeconds * 1000;
  }

  /** Whether we renewed it recently enough to go on, and were awake all the time. */
  isFresh(): boolean {
    const isRenewed = this.#options.clock.monotonic() - this.#renewed.at < this.#deadlineMillis;
    return isRenewed && this.#standstill() === undefined;
  }

  /** Why it cannot be known that others did not take the lease meanwhile. */
  #standstill(): string | undefined {
    const { clock } = this.#options;
    const lateMillis = clock.monotonic() - this.#tickedAt - tickMillis;
    const aheadMillis = clock.now().getTime() - this.#renewed.wall - (clock.monotonic() - this.#renewed.at);
    const isLong = (millis: number): boolean => millis > this.#deadlineMillis / 3;
    if (isLong(lateMillis)) return `this process stood still for ${inSeconds(lateMillis)}`;
    // The monotonic clock does not count the time for which a virtual machine was suspended. A wall clock that is set forward
    // looks the same: then leadership is lost without need, which does no harm.
    if (isLong(aheadMillis))
      return `this machine was suspended, or its clock set forward, by ${inSeconds(aheadMillis)}`;
    return undefined;
  }

  /** Tries until the lease is ours; false if we were told to stop before. */
  async acquire(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      if ((await this.#attempt(signal)) === 'ours') return true;
      // Those who wait for the same lease do not ask all at once.
      await pause(this.#options.clock, this.#retryMillis * (1 + this.#options.clock.random() / 5), signal);
    }
    return false;
  }

  async renew({ stop, lost, lose }: Term): Promise<void> {
    for (;;) {
      await pause(this.#options.clock, this.#retryMillis, stop);
      if (stop.aborted) return;
      const standstill = this.#standstill(); // a renewal would hide it from `guard`
      if (standstill !== undefined) return lose(this.#loss('unreachable', standstill));
      // Not broken off by `stop`: whether it was written has to be known when the lease is given back.
      if ((await this.#attempt(lost)) === 'taken') return lose(this.#loss('conflict', `${this.#holder()} took it`));
    }
  }

  /** Ends our leadership when it could not be renewed in time, or when this process was not running as it should. */
  async guard({ stop, lose }: Term): Promise<void> {
    const { clock } = this.#options;
    while (!stop.aborted) {
      this.#tickedAt = clock.monotonic();
      await pause(clock, tickMillis, stop);
      if (stop.aborted || this.isFresh()) continue;
      return lose(this.#loss('unreachable', this.#standstill() ?? 'it could not be renewed in time'));
    }
  }

  /** Gives the lease back. If that fails the others wait for it to expire, which is no harm. */
  async release(): Promise<void> {
    const { client, namespace, name } = this.#options;
    const call = { timeoutSeconds: this.#deadlineMillis / 4000 };
    try {
      const lease = this.#seen?.lease ?? (await client.get(leases, { namespace, name }, call));
      if (!this.#isHeldBy(lease)) return;
      const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: this.#time() };
      await client.update(leases, { ...lease, spec }, call);
    } catch (thrown) {
      this.#options.onTrouble(Failure.from(thrown));
    }
  }

  async #attempt(signal: AbortSignal): Promise<Attempt> {
    try {
      return await this.#take(signal);
    } catch (thrown) {
      const failure = Failure.from(thrown);
      // What we wrote may be there or not: look next time. But what others wrote is kept, or it would never expire.
      if (this.#isOurs()) this.#seen = undefined;
      const cameSecond = failure.kind === 'conflict';
      if (!signal.aborted && !cameSecond) this.#options.onTrouble(failure);
      return 'unknown';
    }
  }

  async #take(signal: AbortSignal): Promise<Attempt> {
    const { client, clock, namespace, name } = this.#options;
    const call = { signal, timeoutSeconds: this.#deadlineMillis / 2000 };
    if (!this.#isOurs())
      this.#look(await unless('not-found', client.get(leases, { namespace, name }, call), undefined));
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

  #look(lease: Stored<Lease> | undefined): void {
    const isNews = lease?.metadata.resourceVersion !== this.#seen?.lease.metadata.resourceVersion;
    if (lease === undefined) this.#seen = undefined;
    else if (isNews) this.#seen = { lease, at: this.#options.clock.monotonic() };
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
    const isNamesake = this.#seen?.lease.spec?.holderIdentity === identity;
    return isNamesake ? `another process with the identity ${identity}` : 'somebody else';
  }

  /** Somebody else holds it, and has been heard of within its duration. */
  #isTaken(): boolean {
    if (this.#seen === undefined || this.#isOurs()) return false;
    const { holderIdentity, leaseDurationSeconds = this.#durationSeconds } = this.#seen.lease.spec ?? {};
    const expires = this.#seen.at + leaseDurationSeconds * 1000;
    return Boolean(holderIdentity) && this.#options.clock.monotonic() < expires;
  }

  /** The lease with us as its holder, and the version we saw: if somebody wrote meanwhile, the write is refused. */
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

  /** The server wants microseconds. */
  #time(): string {
    return this.#options.clock.now().toISOString().replace('Z', '000Z');
  }

  #loss(kind: 'conflict' | 'unreachable', why: string): Failure {
    const { namespace, name } = this.#options;
    return new Failure(kind, `lost the lease ${namespace}/${name}: ${why}`);
  }
}
