import { once } from 'node:events';
import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Duplex, PassThrough, type Readable, type Writable } from 'node:stream';
import { Failure } from '../../src/std/failure.ts';
import type { ContainerAddress, LogRequest, NodeStreams, PodAddress, Terminal } from '../streams.ts';
import type { Container } from './container/container.ts';
import type { Process } from './container/process.ts';
import { resize } from './container/terminal-size.ts';
import type { Kubelet } from './kubelet.ts';
import type { LogFile } from './log/log-file.ts';
import { type LogLine, parseLine } from './log/log-line.ts';
import { LogSelection } from './log/selection.ts';
import type { ContainerRunner } from './pod/container-runner.ts';

/** Connects to an address inside the lab. */
type Dial = (host: string, port: number) => Promise<Duplex>;

interface Nodes {
  readonly kubelets: readonly Kubelet[];
  readonly dial: Dial;
}

/** The streams of each node that is not stopped. */
export function streamsOf(nodes: Nodes): (nodeName: string) => NodeStreams | undefined {
  const streams = new LabStreams(nodes);
  return (nodeName) =>
    nodes.kubelets.some(({ name, isStopped }) => name === nodeName && !isStopped) ? streams : undefined;
}

/** Finds containers on the nodes of the lab, and opens their logs, exec and attach streams. */
export class LabStreams implements NodeStreams {
  readonly #kubelets: readonly Kubelet[];
  readonly #dial: Dial;

  constructor({ kubelets, dial }: Nodes) {
    this.#kubelets = kubelets;
    this.#dial = dial;
  }

  async logs(address: ContainerAddress, request: LogRequest): Promise<Readable> {
    const runner = this.#runner(address);
    const { restartCount } = runner.view;
    const path = runner.logPath(request.previous ? restartCount - 1 : restartCount);
    if (!existsSync(path)) throw new Failure('rejected', missingLog(address, request));
    const log = request.previous ? undefined : runner.log;
    await log?.flushed();
    const out = new PassThrough();
    send(path, out, { request, log }).catch((error: unknown) => out.destroy(Failure.from(error)));
    return out;
  }

  async exec(address: ContainerAddress, command: readonly string[], terminal: Terminal): Promise<number> {
    const { container, view } = this.#runner(address);
    if (container === undefined || view.state.is !== 'running')
      throw new Failure('rejected', `container not found ("${address.container}")`);
    const process = container.exec(command, { tty: terminal.tty, stdin: terminal.stdin !== undefined });
    return await connectTerminal(process, terminal);
  }

  async attach(address: ContainerAddress, terminal: Terminal): Promise<number> {
    const { container, view } = this.#runner(address);
    if (container === undefined || view.state.is !== 'running')
      throw new Failure('rejected', `container ${address.container} is not running`);
    return await attachTo(container, terminal);
  }

  /**
   * Connects to the pod's address. Unlike a real kubelet, this does not reach ports on the pod's loopback interface.
   */
  async forward(pod: PodAddress, port: number): Promise<Duplex> {
    const address = this.#kubelets.map((kubelet) => kubelet.addressOf(pod)).find((each) => each !== undefined);
    if (address === undefined) throw new Failure('rejected', `pod "${pod.pod}" is not running`);
    return await this.#dial(address, port).catch((thrown: unknown) => {
      throw new Failure('unreachable', withPlainRefusal(thrown), { cause: thrown });
    });
  }

  #runner(address: ContainerAddress): ContainerRunner {
    const found = this.#kubelets.map((kubelet) => kubelet.containerRunner(address)).find((each) => each !== undefined);
    if (found !== undefined) return found;
    throw new Failure(
      'rejected',
      `container "${address.container}" in pod "${address.pod}" is waiting to start: ContainerCreating`,
    );
  }
}

/** Kubernetes reports a closed port as "connection refused". */
const withPlainRefusal = (thrown: unknown): string =>
  Failure.from(thrown).message.replace('ECONNREFUSED', 'connection refused');

const missingLog = ({ container, pod }: ContainerAddress, { previous }: LogRequest): string =>
  previous
    ? `previous terminated container "${container}" in pod "${pod}" not found`
    : `container "${container}" in pod "${pod}" is waiting to start: ContainerCreating`;

/** Connects a process to the client's terminal. */
async function connectTerminal(process: Process, { stdin, stdout, stderr, resizes }: Terminal): Promise<number> {
  if (stdin !== undefined && process.stdin !== null) stdin.pipe(process.stdin);
  process.stdout.pipe(stdout, { end: false });
  process.stderr.pipe(stderr ?? stdout, { end: false });
  if (resizes !== undefined) void applyResizes(resizes, process);
  const { code } = await process.ended;
  return code;
}

/**
 * Connects a client to a container's first process. The process goes on when the client leaves. Its stdin stays open,
 * unless stdinOnce is set.
 */
async function attachTo({ process, stdinOnce }: Container, terminal: Terminal): Promise<number> {
  const { stdin, stdout, stderr = stdout, resizes } = terminal;
  if (process.stdin !== null) stdin?.pipe(process.stdin, { end: stdinOnce });
  using _out = copyOutput(process.stdout, stdout);
  using _err = copyOutput(process.stderr, stderr);
  if (resizes !== undefined) void applyResizes(resizes, process);
  const ended = process.ended.then(({ code }) => code);
  const clientGone = stdin === undefined || stdinOnce ? [] : [once(stdin, 'end').then(() => 0)];
  return await Promise.race([ended, ...clientGone]);
}

/**
 * Copies output without a pipe: when a piped client leaves, the pipe pauses the source, and the container's log would
 * stop too.
 */
function copyOutput(from: Readable, to: Writable): Disposable {
  const copy = (chunk: unknown): void => void (to.writable && to.write(chunk));
  from.on('data', copy);
  return { [Symbol.dispose]: () => from.off('data', copy) };
}

async function applyResizes(resizes: NonNullable<Terminal['resizes']>, process: Process): Promise<void> {
  for await (const size of resizes) await resize(process, size);
}

interface LogSource {
  readonly request: LogRequest;
  /** The log, while it is still written. */
  readonly log: LogFile | undefined;
}

async function send(path: string, out: PassThrough, { request, log }: LogSource): Promise<void> {
  const selection = new LogSelection(request);
  const write = (line: LogLine): void => void out.write(selection.format(line));
  // A follower receives new lines from now on. Lines that are already in the file are written first.
  const fresh: LogLine[] = [];
  let take = (line: LogLine): void => void fresh.push(line);
  const followed = request.follow && log?.isEnded === false ? log : undefined;
  const end = followed?.follow(
    (line) => take(line),
    () => out.end(),
  );
  const lines = await linesIn(path);
  for (const line of selection.past(lines)) write(line);
  for (const line of newerThan(lines.at(-1), fresh)) write(line);
  take = write;
  if (followed === undefined) out.end();
  out.once('close', () => end?.());
}

const newerThan = (last: LogLine | undefined, lines: readonly LogLine[]): readonly LogLine[] =>
  lines.filter(({ time }) => last === undefined || time > last.time);

async function linesIn(path: string): Promise<readonly LogLine[]> {
  const lines: LogLine[] = [];
  for await (const text of createInterface({ input: createReadStream(path) })) {
    const line = parseLine(text);
    if (line !== undefined) lines.push(line);
  }
  return lines;
}
