import type { KubeClient } from '../kube/client.ts';
import { isAlreadyExists } from '../kube/errors.ts';
import { type CoreEvent, type KubeObject, keyOf, type NamespacedName } from '../kube/object.ts';
import { events } from '../kube/resource.ts';
import { Failure } from '../std/failure.ts';
import { type Clock, pause } from './clock.ts';

/** The type, reason and message of an Event. */
export interface EventContent {
  readonly type: 'Normal' | 'Warning';
  /** One CamelCase word. Conditions and logs use the same words. */
  readonly reason: string;
  readonly message: string;
}

export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, 'create' | 'patch'>;
  readonly clock: Clock;
  /** The reporting component, as `kubectl describe` shows it, and its instance. */
  readonly component: string;
  readonly instance: string;
  /** Called for Events that could not be sent. Events inform users only: no pass waits for them. */
  readonly onFailure: (failure: Failure) => void;
}

/** A repeat within this time increments the count of the existing Event. */
const repeatMillis = 600_000;
/** The token bucket of each object: its size, and the time for one more token. */
const burst = 50;
const refillMillis = 30_000;
/** The most Events that wait to be sent: those of several hundred clusters that are created at once. */
const mostWaiting = 2_000;
/** The most Events that are sent at once. */
const atOnce = 4;
const attempts = 3;
const retryMillis = 1_000;
const timeoutSeconds = 5;
const longestMessage = 1024;

/** One Event, which may repeat. */
interface Entry {
  readonly name: string;
  readonly namespace: string;
  readonly event: Omit<CoreEvent, 'metadata' | 'count' | 'lastTimestamp'>;
  count: number;
  lastTime: string;
  lastMillis: number;
  isWaiting: boolean;
  isCreated: boolean;
}

interface Allowance {
  /** The key of the object. */
  readonly of: string;
  readonly left: number;
  readonly at: number;
  /** The bucket is empty, and that has been reported. */
  readonly isExhausted: boolean;
}

/** Records core/v1 Events. Events of one object are sent one after the other, in the background. No method throws. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  /** Both maps are in order of last use, oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #allowances = new Map<string, Allowance>();
  /** The names in both maps, by the key of their object. */
  readonly #namesOf = new Map<string, Set<string>>();
  readonly #stop = new AbortController();
  /** Each Event is sent by one of these, so that Events of one object stay in order. */
  readonly #senders: Promise<void>[] = Array.from({ length: atOnce }, () => Promise.resolve());
  #waiting = 0;
  /** An Event was dropped since the last Event that was sent. */
  #isFull = false;
  #made = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  /** The number of entries in memory. */
  get size(): number {
    return this.#entries.size + this.#allowances.size;
  }

  /** Drops a deleted object. Its waiting Events are still sent. */
  forget(key: string): void {
    for (const name of this.#namesOf.get(key) ?? []) {
      this.#entries.delete(name);
      this.#allowances.delete(name);
    }
    this.#namesOf.delete(key);
  }

  record(object: KubeObject, content: EventContent): void {
    this.#expire();
    if (!this.#isAllowed(object)) return;
    const entry = this.#entryFor(object, content);
    entry.count++;
    entry.lastTime = this.#time();
    entry.lastMillis = this.#options.clock.monotonic();
    if (!entry.isWaiting) this.#enqueue(entry);
  }

  /** Waits until all recorded Events are sent or dropped. Once `signal` aborts, nothing is retried. */
  async flush(signal: AbortSignal): Promise<void> {
    const stopRetries = (): void => this.#stop.abort();
    if (signal.aborted) stopRetries();
    signal.addEventListener('abort', stopRetries, { once: true });
    await Promise.all(this.#senders);
    signal.removeEventListener('abort', stopRetries);
  }

  #entryFor(object: KubeObject, { type, reason, message: whole }: EventContent): Entry {
    const message = whole.length > longestMessage ? `${whole.slice(0, longestMessage - 1)}…` : whole;
    const key = JSON.stringify([identityOf(object), type, reason, message]);
    const known = this.#entries.get(key);
    const entry = known ?? this.#newEntry(object, { type, reason, message });
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#note(keyOf(object.metadata), key);
    return entry;
  }

  #newEntry(object: KubeObject, content: EventContent): Entry {
    const { component, instance } = this.#options;
    const { apiVersion, kind, metadata } = object;
    const { name, namespace, uid, resourceVersion } = metadata;
    const reference = { apiVersion, kind, name, namespace, uid, resourceVersion };
    const given = Object.entries(reference).filter(([, value]) => value !== undefined);
    const time = this.#time();
    return {
      name: `${name.slice(0, 220)}.${this.#unique()}`,
      namespace: namespace ?? 'default',
      event: {
        apiVersion: 'v1',
        kind: 'Event',
        involvedObject: Object.fromEntries(given),
        ...content,
        firstTimestamp: time,
        source: { component },
        reportingComponent: component,
        reportingInstance: instance,
      },
      count: 0,
      lastTime: time,
      lastMillis: 0,
      isWaiting: false,
      isCreated: false,
    };
  }

  #unique(): string {
    const { clock } = this.#options;
    const parts = [clock.now().getTime(), Math.floor(clock.random() * 0xffff), this.#made++];
    return parts.map((part) => part.toString(16)).join('');
  }

  /** One token bucket per object, so that a flapping cluster does not bury the Events of others. */
  #isAllowed(object: KubeObject): boolean {
    const key = identityOf(object);
    const now = this.#options.clock.monotonic();
    const of = keyOf(object.metadata);
    const before = this.#allowances.get(key) ?? { of, left: burst, at: now, isExhausted: false };
    const left = Math.min(burst, before.left + (now - before.at) / refillMillis);
    const isAllowed = left >= 1;
    this.#note(of, key);
    this.#allowances.delete(key);
    this.#allowances.set(key, { of, left: isAllowed ? left - 1 : left, at: now, isExhausted: !isAllowed });
    if (!isAllowed && !before.isExhausted)
      this.#reportDropped(`${object.kind} ${object.metadata.name} exceeds its Event rate limit`);
    return isAllowed;
  }

  #enqueue(entry: Entry): void {
    if (this.#waiting >= mostWaiting) return this.#reportFull();
    this.#isFull = false;
    entry.isWaiting = true;
    this.#waiting++;
    const sender = senderOf(entry.event.involvedObject.uid ?? '');
    this.#senders[sender] = (this.#senders[sender] ?? Promise.resolve()).then(() => this.#send(entry));
  }

  async #send(entry: Entry): Promise<void> {
    entry.isWaiting = false;
    this.#waiting--;
    for (let attempt = 1; ; attempt++) {
      const failure = await this.#try(entry);
      if (failure === undefined) return;
      if (failure.kind !== 'unreachable' || attempt === attempts || this.#stop.signal.aborted)
        return this.#options.onFailure(failure);
      await pause(this.#options.clock, retryMillis, this.#stop.signal);
    }
  }

  async #try(entry: Entry): Promise<Failure | undefined> {
    try {
      await (entry.isCreated ? this.#updateCount(entry) : this.#create(entry));
      return undefined;
    } catch (thrown) {
      const failure = Failure.from(thrown);
      if (failure.kind !== 'not-found' || !entry.isCreated) return failure;
      entry.isCreated = false; // the server deletes Events after a while
      return await this.#try(entry);
    }
  }

  async #updateCount({ name, namespace, count, lastTime }: Entry): Promise<void> {
    const body = { count, lastTimestamp: lastTime };
    await this.#options.client.patch(events, { namespace, name }, { type: 'merge', body, timeoutSeconds });
  }

  async #create(entry: Entry): Promise<void> {
    const { name, namespace, event, count, lastTime } = entry;
    const object = { ...event, metadata: { namespace, name }, count, lastTimestamp: lastTime };
    try {
      await this.#options.client.create(events, object, { timeoutSeconds });
    } catch (thrown) {
      // The answer of an earlier attempt was lost: the Event exists already.
      if (!isAlreadyExists(thrown)) throw thrown;
    }
    entry.isCreated = true;
  }

  #reportDropped(why: string): void {
    this.#options.onFailure(new Failure('rejected', `Event dropped: ${why}`));
  }

  /** One report for all Events that are dropped in a row. */
  #reportFull(): void {
    if (!this.#isFull) this.#reportDropped(`${mostWaiting} Events already wait to be sent`);
    this.#isFull = true;
  }

  /** Drops expired entries and full token buckets. */
  #expire(): void {
    const now = this.#options.clock.monotonic();
    for (const [name, { lastMillis, isWaiting, event }] of this.#entries) {
      if (isWaiting || now - lastMillis < repeatMillis) break;
      this.#entries.delete(name);
      this.#drop(keyOf(event.involvedObject as NamespacedName), name);
    }
    for (const [name, { at, of }] of this.#allowances) {
      if (now - at < burst * refillMillis) break;
      this.#allowances.delete(name);
      this.#drop(of, name);
    }
  }

  #note(key: string, name: string): void {
    this.#namesOf.set(key, (this.#namesOf.get(key) ?? new Set()).add(name));
  }

  #drop(key: string, name: string): void {
    const names = this.#namesOf.get(key);
    names?.delete(name);
    if (names?.size === 0) this.#namesOf.delete(key);
  }

  #time(): string {
    return this.#options.clock
      .now()
      .toISOString()
      .replace(/\.\d+Z$/, 'Z');
  }
}

const identityOf = ({ kind, metadata }: KubeObject): string =>
  metadata.uid ?? `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;

/** Objects are spread over the senders by the last digits of their UID. */
const senderOf = (uid: string): number => (Number.parseInt(uid.slice(-4), 16) || 0) % atOnce;
