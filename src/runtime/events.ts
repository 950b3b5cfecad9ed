import type { KubeClient } from '../kube/client.ts';
import { isAlreadyExists } from '../kube/errors.ts';
import { type At, type CoreEvent, type KubeObject, keyOf } from '../kube/object.ts';
import { events } from '../kube/resource.ts';
import { Failure } from '../std/failure.ts';
import { type Clock, pause } from './clock.ts';

/** What is told of an object. */
export interface Told {
  readonly type: 'Normal' | 'Warning';
  /** One word in CamelCase, of the vocabulary that conditions and logs share. */
  readonly reason: string;
  readonly message: string;
}

export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, 'create' | 'patch'>;
  readonly clock: Clock;
  /** Who says it, as `kubectl describe` shows it, and which of several that is. */
  readonly component: string;
  readonly instance: string;
  /** Told what could not be recorded. Events are for people: nothing depends on them, so nothing waits for them. */
  readonly onTrouble: (failure: Failure) => void;
}

/** A repeat within this time counts up the event that is there already. */
const repeatMillis = 600_000;
/** How many events one object may have at once, and how soon it may have one more. */
const burst = 50;
const refillMillis = 30_000;
/** How many may wait to be sent. */
const mostWaiting = 500;
const attempts = 3;
const retryMillis = 1_000;
const timeoutSeconds = 5;
const longestMessage = 1024;

/** One event, which may happen again. */
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
  /** It had too many, and that has been said. */
  readonly isHeldBack: boolean;
}

/** Records core/v1 Events. It sends them one after the other, in the background, and never throws. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  /** Both in the order of their last use, so that the old ones are in front. */
  readonly #entries = new Map<string, Entry>();
  readonly #allowances = new Map<string, Allowance>();
  readonly #stop = new AbortController();
  #sending: Promise<void> = Promise.resolve();
  #waiting = 0;
  #made = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  /** How much is kept in memory of objects. */
  get size(): number {
    return this.#entries.size + this.#allowances.size;
  }

  /** An object of this key is gone. What waits to be sent is sent. */
  forget(key: string): void {
    for (const [name, { event }] of this.#entries)
      if (keyOf(event.involvedObject as At) === key) this.#entries.delete(name);
    for (const [name, { of }] of this.#allowances) if (of === key) this.#allowances.delete(name);
  }

  record(object: KubeObject, told: Told): void {
    this.#tidy();
    if (!this.#isAllowed(object)) return;
    const entry = this.#entryFor(object, told);
    entry.count++;
    entry.lastTime = this.#time();
    entry.lastMillis = this.#options.clock.monotonic();
    if (!entry.isWaiting) this.#enqueue(entry);
  }

  /** Waits until all that was recorded is sent or given up; once `signal` aborts nothing is tried again. */
  async flush(signal: AbortSignal): Promise<void> {
    const hurry = (): void => this.#stop.abort();
    if (signal.aborted) hurry();
    signal.addEventListener('abort', hurry, { once: true });
    await this.#sending;
    signal.removeEventListener('abort', hurry);
  }

  #entryFor(object: KubeObject, { type, reason, message: whole }: Told): Entry {
    const message = whole.length > longestMessage ? `${whole.slice(0, longestMessage - 1)}…` : whole;
    const key = JSON.stringify([identityOf(object), type, reason, message]);
    const known = this.#entries.get(key);
    const entry = known ?? this.#newEntry(object, { type, reason, message });
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry;
  }

  #newEntry(object: KubeObject, told: Told): Entry {
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
        ...told,
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

  /** A token bucket an object: a cluster that goes to and fro must not bury everybody else's events. */
  #isAllowed(object: KubeObject): boolean {
    const key = identityOf(object);
    const now = this.#options.clock.monotonic();
    const of = keyOf(object.metadata);
    const before = this.#allowances.get(key) ?? { of, left: burst, at: now, isHeldBack: false };
    const left = Math.min(burst, before.left + (now - before.at) / refillMillis);
    const isAllowed = left >= 1;
    this.#allowances.delete(key);
    this.#allowances.set(key, { of, left: isAllowed ? left - 1 : left, at: now, isHeldBack: !isAllowed });
    if (!isAllowed && !before.isHeldBack) this.#giveUp(`${object.kind} ${object.metadata.name} has too many`);
    return isAllowed;
  }

  #enqueue(entry: Entry): void {
    if (this.#waiting >= mostWaiting) return this.#giveUp('too many wait to be sent');
    entry.isWaiting = true;
    this.#waiting++;
    this.#sending = this.#sending.then(() => this.#send(entry));
  }

  async #send(entry: Entry): Promise<void> {
    entry.isWaiting = false;
    this.#waiting--;
    for (let attempt = 1; ; attempt++) {
      const failure = await this.#try(entry);
      if (failure === undefined) return;
      if (failure.kind !== 'unreachable' || attempt === attempts || this.#stop.signal.aborted)
        return this.#options.onTrouble(failure);
      await pause(this.#options.clock, retryMillis, this.#stop.signal);
    }
  }

  async #try(entry: Entry): Promise<Failure | undefined> {
    try {
      await (entry.isCreated ? this.#countUp(entry) : this.#create(entry));
      return undefined;
    } catch (thrown) {
      const failure = Failure.from(thrown);
      if (failure.kind !== 'not-found' || !entry.isCreated) return failure;
      entry.isCreated = false; // the server forgets events after a while
      return await this.#try(entry);
    }
  }

  async #countUp({ name, namespace, count, lastTime }: Entry): Promise<void> {
    const body = { count, lastTimestamp: lastTime };
    await this.#options.client.patch(events, { namespace, name }, { type: 'merge', body, timeoutSeconds });
  }

  async #create(entry: Entry): Promise<void> {
    const { name, namespace, event, count, lastTime } = entry;
    const object = { ...event, metadata: { namespace, name }, count, lastTimestamp: lastTime };
    try {
      await this.#options.client.create(events, object, { timeoutSeconds });
    } catch (thrown) {
      // An answer that was lost: the event is there already.
      if (!isAlreadyExists(thrown)) throw thrown;
    }
    entry.isCreated = true;
  }

  #giveUp(why: string): void {
    this.#options.onTrouble(new Failure('rejected', `an event was not recorded: ${why}`));
  }

  /** Forgets what no longer matters. */
  #tidy(): void {
    const now = this.#options.clock.monotonic();
    for (const [key, { lastMillis, isWaiting }] of this.#entries) {
      if (isWaiting || now - lastMillis < repeatMillis) break;
      this.#entries.delete(key);
    }
    for (const [key, { at }] of this.#allowances) {
      if (now - at < burst * refillMillis) break;
      this.#allowances.delete(key);
    }
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
