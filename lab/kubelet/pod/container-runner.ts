import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventContent } from '../../../src/runtime/events.ts';
import { Failure } from '../../../src/std/failure.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { Container, type ContainerPlan } from '../container/container.ts';
import type { ContainerSpec } from '../container/environment.ts';
import type { Ended } from '../container/process.ts';
import { executeError } from '../container/root.ts';
import type { Image } from '../image/image.ts';
import { LogFile } from '../log/log-file.ts';
import { Prober } from '../probe/prober.ts';
import { afterRestart } from './backoff.ts';
import { runHook } from './hook.ts';
import { formatTime } from './status.ts';
import { type ContainerView, freshView, type Termination } from './view.ts';

export interface ContainerRunnerOptions {
  readonly sandbox: Sandbox;
  /** The container's directory. */
  readonly directory: string;
  readonly podAddress: string;
  readonly recordEvent: (event: EventContent) => void;
  /** Called when the view has changed. */
  readonly onChange: () => void;
}

export type StartPlan = Omit<ContainerPlan, 'log' | 'directory'> & { readonly image: Image };

/** The size limit of a termination message. */
const maxMessage = 4096;

/** Runs one container of a pod, one run after another. */
export class ContainerRunner {
  readonly #options: ContainerRunnerOptions;
  #view: ContainerView;
  #run: { readonly container: Container; readonly prober: Prober; readonly log: LogFile } | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: ContainerRunnerOptions, view: ContainerView) {
    this.#options = options;
    this.#view = view;
  }

  get view(): ContainerView {
    return this.#view;
  }

  get container(): Container | undefined {
    return this.#run?.container;
  }

  get log(): LogFile | undefined {
    return this.#run?.log;
  }

  logPath(restart: number): string {
    return join(this.#options.directory, 'logs', `${restart}.log`);
  }

  get terminationFile(): string {
    return join(this.#options.directory, 'termination-log');
  }

  /** Records why the container cannot be started. */
  hold(image: string, state: { readonly reason: string; readonly message: string; readonly retryAt: number }): void {
    const { last } = this.#previous();
    this.#view = { ...this.#view, image, last, state: { is: 'waiting', ...state } };
    this.#options.onChange();
  }

  async start(spec: ContainerSpec, plan: StartPlan): Promise<void> {
    const { sandbox, directory } = this.#options;
    const { last, isRestart } = this.#previous();
    const restartCount = this.#view.restartCount + Number(isRestart);
    const log = new LogFile(this.logPath(restartCount));
    await rm(this.logPath(restartCount - 2), { force: true });
    const container = await Container.start(sandbox, { ...plan, directory: join(directory, 'run'), log });
    const id = `lab://${randomBytes(32).toString('hex')}`;
    const prober = this.#proberFor(spec, container);
    const image = spec.image ?? '';
    const startedAt = formatTime(new Date());
    const hasChanged = this.#view.image !== image;
    this.#run = { container, prober, log };
    this.#view = {
      ...freshView(spec.name, image),
      imageId: plan.image.id,
      state: { is: 'running', startedAt, id, health: prober.health },
      last,
      restartCount,
      backoff: isRestart ? afterRestart(hasChanged ? undefined : this.#view.backoff, Date.now()) : this.#view.backoff,
    };
    prober.start();
    void container.ended.then((ended) => this.#ended(spec, { id, startedAt }, ended));
    this.#options.onChange();
  }

  /** Sends SIGTERM, and SIGKILL after the grace period. */
  stop(spec: ContainerSpec, graceSeconds: number): Promise<void> {
    this.#stopping ??= this.#stop(spec, graceSeconds).finally(() => (this.#stopping = undefined));
    return this.#stopping;
  }

  /** Stops the container because the node ends. The container's view is not updated. */
  async quit(graceSeconds: number): Promise<void> {
    const container = this.#run?.container;
    if (container === undefined || this.#view.state.is !== 'running') return;
    this.#run?.prober.stop();
    const { abort } = startDeadline(graceSeconds, () => container.kill('SIGKILL'));
    container.kill('SIGTERM');
    await container.ended;
    abort();
  }

  /** Kills the container at once. */
  async kill(): Promise<void> {
    this.#run?.prober.stop();
    this.#run?.container.kill('SIGKILL');
    await this.#run?.container.ended;
  }

  async #stop(spec: ContainerSpec, graceSeconds: number): Promise<void> {
    const run = this.#run;
    if (run === undefined || this.#view.state.is !== 'running') return;
    run.prober.stop();
    const { signal, abort } = startDeadline(graceSeconds, () => run.container.kill('SIGKILL'));
    const preStop = spec.lifecycle?.preStop;
    if (preStop !== undefined && graceSeconds > 0)
      await runHook(preStop, { ...this.#probeTarget(spec, run.container), deadline: signal });
    run.container.kill('SIGTERM');
    await run.container.ended;
    abort();
  }

  #proberFor(spec: ContainerSpec, container: Container): Prober {
    const { recordEvent, onChange } = this.#options;
    return new Prober({
      ...this.#probeTarget(spec, container),
      onHealth: (health) => {
        if (this.#view.state.is !== 'running') return;
        this.#view = { ...this.#view, state: { ...this.#view.state, health } };
        onChange();
      },
      onUnhealthy: (kind, message) =>
        recordEvent({ type: 'Warning', reason: 'Unhealthy', message: `${capitalize(kind)} probe failed: ${message}` }),
      onRestartNeeded: (kind) => {
        const message = `Container ${spec.name} failed ${kind} probe, will be restarted`;
        recordEvent({ type: 'Normal', reason: 'Killing', message });
        void this.stop(spec, 30);
      },
    });
  }

  #probeTarget(spec: ContainerSpec, container: Container) {
    const { podAddress, sandbox } = this.#options;
    const dial = sandbox.dial.bind(sandbox);
    return { spec, container, podAddress, dial };
  }

  async #ended(spec: ContainerSpec, run: Pick<Termination, 'id' | 'startedAt'>, ended: Ended): Promise<void> {
    this.#run?.prober.stop();
    const finishedAt = formatTime(new Date());
    const verdict = await this.#verdictOn(spec, ended, this.#run?.log.tail ?? '');
    this.#view = { ...this.#view, state: { is: 'terminated', ...run, finishedAt, ...verdict } };
    this.#options.onChange();
  }

  /** A program that cannot be executed is a StartError, not a failure of the program. */
  async #verdictOn(
    spec: ContainerSpec,
    ended: Ended,
    tail: string,
  ): Promise<Omit<Termination, 'id' | 'startedAt' | 'finishedAt'>> {
    const failure = ended.code === 127 || ended.code === 126 ? executeError.exec(tail)?.[1] : undefined;
    if (failure !== undefined) return { exitCode: 128, reason: 'StartError', message: failure };
    const message = await this.#terminationMessage(spec, tail, ended);
    return { exitCode: ended.code, reason: ended.code === 0 ? 'Completed' : 'Error', message };
  }

  async #terminationMessage(spec: ContainerSpec, tail: string, { code }: Ended): Promise<string> {
    const written = existsSync(this.terminationFile) ? await readFile(this.terminationFile, 'utf8') : '';
    const isFallback = written === '' && code !== 0 && spec.terminationMessagePolicy === 'FallbackToLogsOnError';
    return (isFallback ? tail : written).slice(-maxMessage);
  }

  #previous(): { readonly last: Termination | undefined; readonly isRestart: boolean } {
    const { state, last } = this.#view;
    if (state.is !== 'terminated') return { last, isRestart: last !== undefined && this.#run !== undefined };
    const { is: _, ...ended } = state;
    return { last: ended, isRestart: true };
  }
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function startDeadline(
  seconds: number,
  onEnd: () => void,
): { readonly signal: AbortSignal; readonly abort: () => void } {
  const over = new AbortController();
  const timer = setTimeout(() => {
    over.abort();
    onEnd();
  }, seconds * 1000);
  return { signal: over.signal, abort: () => clearTimeout(timer) };
}

/** The message of a failed start. */
export const startFailure = (thrown: unknown): string => Failure.from(thrown).message;
