import type { WriteOptions } from '../../../src/kube/client.ts';
import { ApiFailure, unanswered } from '../../../src/kube/errors.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import type { Resource } from '../../../src/kube/resource.ts';
import type { Process } from '../world/process.ts';
import type { Scheduler } from '../world/scheduler.ts';
import type { Trace } from '../world/trace.ts';
import type { FaultSource, RequestFate, RequestFault } from './faults.ts';

export interface RequestParts {
  readonly scheduler: Scheduler;
  readonly process: Process;
  readonly faults: FaultSource;
  readonly trace: Trace;
  /** Kills the process. */
  readonly crash: (process: Process) => void;
}

export interface Asked<T> {
  readonly verb: 'get' | 'list' | 'create' | 'update' | 'patch' | 'delete';
  readonly resource: Resource<KubeObject>;
  readonly what: string;
  readonly options: Pick<WriteOptions, 'signal' | 'timeoutSeconds' | 'confirm'> | undefined;
  /** What the server does. */
  readonly perform: () => T;
}

const defaultTimeoutSeconds = 30;
const always = (): void => undefined;

/** One request: sent, done by the server, answered; or not. */
export class SimulatedRequest<T> {
  readonly #asked: Asked<T>;
  readonly #parts: RequestParts;
  readonly #fate: RequestFate;
  readonly #answer = Promise.withResolvers<T>();

  constructor(asked: Asked<T>, parts: RequestParts) {
    this.#asked = asked;
    this.#parts = parts;
    this.#fate = parts.faults.ofRequest(asked.verb, asked.resource.plural);
  }

  start(): Promise<T> {
    const { options } = this.#asked;
    const { sendMillis } = this.#fate;
    const abort = (): void => this.#fail(new Error('aborted'));
    if (this.#isAborted) abort();
    options?.signal?.addEventListener('abort', abort, { once: true });
    if (sendMillis === 0) this.#send();
    else this.#parts.process.after(sendMillis, () => this.#send());
    return this.#answer.promise;
  }

  get #label(): string {
    const { verb, resource, what } = this.#asked;
    return `${verb} ${resource.plural} ${what}`;
  }

  get #isAborted(): boolean {
    return this.#asked.options?.signal?.aborted === true;
  }

  #fail(thrown: unknown): void {
    this.#answer.reject(unanswered(this.#label, thrown, this.#asked.options?.signal));
  }

  #send(): void {
    const { confirm = always, timeoutSeconds = defaultTimeoutSeconds } = this.#asked.options ?? {};
    if (this.#isAborted) return;
    try {
      confirm();
    } catch (thrown) {
      return this.#answer.reject(thrown);
    }
    if (this.#fate.fault?.is === 'lost') this.#giveUpAfter(timeoutSeconds);
    this.#parts.scheduler.afterInert(this.#fate.thereMillis, () => this.#serve());
  }

  #giveUpAfter(seconds: number): void {
    this.#parts.process.after(seconds * 1000, () => this.#fail(new Error(`no answer within ${seconds} s`)));
  }

  #serve(): void {
    const { fault, backMillis } = this.#fate;
    const { scheduler, process } = this.#parts;
    this.#show();
    const result = outcomeOf(this.#asked, fault);
    if (fault?.is === 'crash') return this.#parts.crash(process);
    if (fault?.is === 'lost') return;
    const { resolve, reject } = this.#answer;
    const settle = (): void => ('value' in result ? resolve(result.value) : reject(result.thrown));
    scheduler.after(backMillis, () => process.run(settle));
  }

  /** Reads, and renewals of the lease that succeed, are not shown. */
  #show(): void {
    const { verb, resource } = this.#asked;
    const { fault } = this.#fate;
    const isQuiet = verb === 'get' || verb === 'list' || (resource.plural === 'leases' && fault === undefined);
    if (!isQuiet) this.#parts.trace.add(this.#parts.process.name, () => `${this.#label}${describeFault(fault)}`);
  }
}

/** A fault for the trace. */
export const describeFault = (fault: RequestFault | undefined): string =>
  fault === undefined ? '' : `  [${Object.values(fault).join(' ')}]`;

type Result<T> = { readonly value: T } | { readonly thrown: unknown };

function outcomeOf<T>({ perform }: Asked<T>, fault: RequestFault | undefined): Result<T> {
  if (fault?.is === 'refused') return { thrown: refusals[fault.status]() };
  const broken = { thrown: new ApiFailure('unreachable', 'the connection broke') };
  if (fault !== undefined && !fault.isDone) return broken;
  try {
    const value = perform();
    return fault?.is === 'broken' ? broken : { value };
  } catch (thrown) {
    return { thrown };
  }
}

const refusals = {
  409: () => new ApiFailure('conflict', 'the object has been modified', { reason: 'Conflict' }),
  429: () => new ApiFailure('unreachable', 'too many requests', { retryAfterSeconds: 1 }),
  500: () => new ApiFailure('unreachable', 'internal error'),
  503: () => new ApiFailure('unreachable', 'the server is currently unable to handle the request'),
};
