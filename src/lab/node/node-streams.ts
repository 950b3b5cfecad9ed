import { once } from 'node:events';
import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Duplex, PassThrough, type Readable, type Writable } from 'node:stream';
import { Failure } from '../../std/failure.ts';
import type { ContainerAddress, LogRequest, NodeStreams, PodAddress, Terminal } from '../streams.ts';
import type { Container } from './container/container.ts';
import type { Process } from './container/process.ts';
import { resize } from './container/terminal-size.ts';
import type { Kubelet } from './kubelet.ts';
import type { LogFile } from './log/log-file.ts';
import { type LogLine, readLine } from './log/log-line.ts';
import { LogSelection } from './log/selection.ts';
import type { Slot } from './pod/slot.ts';

/** Connects to an address inside the lab. */
type Dial = (host: string, port: number) => Promise<Duplex>;

interface Nodes {
  readonly kubelets: readonly Kubelet[];
  readonly dial: Dial;
}

/** The way to each node of the lab that has power. */
export function streamsOf(nodes: Nodes): (nodeName: string) => NodeStreams | undefined {
  const streams = new LabStreams(nodes);
  return (nodeName) =>
    nodes.kubelets.some(({ name, isStopped }) => name === nodeName && !isStopped) ? streams : undefined;
}

/** Finds containers on the nodes of the lab, and speaks with them. */
export class LabStreams implements NodeStreams {
  readonly #kubelets: readonly Kubelet[];
  readonly #dial: Dial;

  constructor({ kubelets, dial }: Nodes) {
    this.#kubelets = kubelets;
    this.#dial = dial;
  }

  async logs(address: ContainerAddress, request: LogRequest): Promise<Readable> {
    const slot = this.#slot(address);
    const { restartCount } = slot.view;
    const path = slot.logPath(request.previous ? restartCount - 1 : restartCount);
    if (!existsSync(path)) throw new Failure('rejected', missingLog(address, request));
    const log = request.previous ? undefined : slot.log;
    await log?.flushed();
    const out = new PassThrough();
    send(path, out, { request, log }).catch((error: unknown) => out.destroy(Failure.from(error)));
    return out;
  }

  async exec(address: ContainerAddress, command: readonly string[], terminal: Terminal): Promise<number> {
    const { container, view } = this.#slot(address);
    if (container === undefined || view.state.is !== 'running')
      throw new Failure('rejected', `container not found ("${address.container}")`);
    const process = container.exec(command, { tty: terminal.tty, stdin: terminal.stdin !== undefined });
    return await connect(process, terminal);
  }

  async attach(address: ContainerAddress, terminal: Terminal): Promise<number> {
    const { container, view } = this.#slot(address);
    if (container === undefined || view.state.is !== 'running')
      throw new Failure('rejected', `container ${address.container} is not running`);
    return await visit(container, terminal);
  }

  /** Unlike a kubelet we come from outside the pod: what listens only inside of it is not reached. */
  async forward(pod: PodAddress, port: number): Promise<Duplex> {
    const address = this.#kubelets.map((kubelet) => kubelet.addressOf(pod)).find((each) => each !== undefined);
    if (address === undefined) throw new Failure('rejected', `pod "${pod.pod}" is not running`);
    return await this.#dial(address, port).catch((thrown: unknown) => {
      throw new Failure('unreachable', inWords(thrown), { cause: thrown });
    });
  }

  #slot(address: ContainerAddress): Slot {
    const found = this.#kubelets.map((kubelet) => kubelet.slot(address)).find((slot) => slot !== undefined);
    if (found !== undefined) return found;
    throw new Failure(
      'rejected',
      `container "${address.container}" in pod "${address.pod}" is waiting to start: ContainerCreating`,
    );
  }
}

/** Kubernetes calls what a closed port does by its plain name. */
const inWords = (thrown: unknown): string => Failure.from(thrown).message.replace('ECONNREFUSED', 'connection refused');

const missingLog = ({ container, pod }: ContainerAddress, { previous }: LogRequest): string =>
  previous
    ? `previous terminated container "${container}" in pod "${pod}" not found`
    : `container "${container}" in pod "${pod}" is waiting to start: ContainerCreating`;

/** Joins a process and whoever sits in front of it. */
async function connect(process: Process, { stdin, stdout, stderr, resizes }: Terminal): Promise<number> {
  if (stdin !== undefined && process.stdin !== null) stdin.pipe(process.stdin);
  process.stdout.pipe(stdout, { end: false });
  process.stderr.pipe(stderr ?? stdout, { end: false });
  if (resizes !== undefined) void follow(resizes, process);
  const { code } = await process.ended;
  return code;
}

/**
 * Lets somebody watch a container's own process, and speak with it. It goes on when they have gone, and goes on reading too, unless
 * it is to read only once.
 */
async function visit({ process, stdinOnce }: Container, terminal: Terminal): Promise<number> {
  const { stdin, stdout, stderr = stdout, resizes } = terminal;
  if (process.stdin !== null) stdin?.pipe(process.stdin, { end: stdinOnce });
  using _out = shown(process.stdout, stdout);
  using _err = shown(process.stderr, stderr);
  if (resizes !== undefined) void follow(resizes, process);
  const ended = process.ended.then(({ code }) => code);
  const left = stdin === undefined || stdinOnce ? [] : [once(stdin, 'end').then(() => 0)];
  return await Promise.race([ended, ...left]);
}

/** Not by a pipe: whoever leaves one stops what flows, and what a container says must go on flowing to its log. */
function shown(from: Readable, to: Writable): Disposable {
  const show = (chunk: unknown): void => void (to.writable && to.write(chunk));
  from.on('data', show);
  return { [Symbol.dispose]: () => from.off('data', show) };
}

async function follow(resizes: NonNullable<Terminal['resizes']>, process: Process): Promise<void> {
  for await (const size of resizes) await resize(process, size);
}

interface Sending {
  readonly request: LogRequest;
  /** The log while it is still written. */
  readonly log: LogFile | undefined;
}

async function send(path: string, out: PassThrough, { request, log }: Sending): Promise<void> {
  const selection = new LogSelection(request);
  const write = (line: LogLine): void => void out.write(selection.shown(line));
  // Whoever follows hears of lines from now on; those that the file holds already come before them.
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
    const line = readLine(text);
    if (line !== undefined) lines.push(line);
  }
  return lines;
}
