import { rm } from 'node:fs/promises';
import { enableCompileCache } from 'node:module';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { whenAborted } from '../../src/std/when-aborted.ts';
import type { ControlPlane } from '../control-plane.ts';
import { readHostPorts } from '../network/host-ports.ts';
import { count, dialects, version, versions } from './arguments.ts';
import { killChildren } from './children.ts';
import { sendControlRequest } from './control.ts';
import { detached } from './detached.ts';
import { lockState } from './lock.ts';
import type { StartOptions } from './start.ts';
import { compiledDirectory, isAlive, runningIn, stateDirectory } from './state.ts';
import { hintsOf, serviceLines } from './view/hints.ts';
import type { Screen } from './view/screen.ts';

type Environment = Readonly<Record<string, string | undefined>>;

interface Flags extends StartOptions {
  readonly detach: boolean;
  readonly kubeconfig?: string;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const path = (text: string): string => resolve(text);

/** `make lab`: a Kubernetes cluster on this machine, without root. */
export async function labCommand(words: readonly string[], env: Environment, signal: AbortSignal): Promise<void> {
  process.stdout.on('error', () => undefined); // a closed pipe must not end the lab
  const program = new Command('lab')
    .description('run a small Kubernetes on this machine, without root')
    .option('--state <directory>', 'state directory', path, stateDirectory(env))
    .option('--nodes <count>', 'number of nodes', count, 3)
    .option(
      '--etcd-version <version>',
      "etcd version of the first cluster, such as the book's 3.1.10; by default the newest available",
      version,
    )
    .option('--etcd-versions <versions>', 'further etcd versions to have ready: 3.5.35,3.6.16', versions, [])
    .option('--dialects <names>', 'APIs that the operator serves: coreos, improbable or both', dialects, ['coreos'])
    .option('--empty', 'do not create the operator and a cluster', false)
    .option('--detach', 'run in the background', false)
    .option('--kubeconfig <file>', 'use an existing API server without nodes instead of an own one', path)
    .action((flags: Flags) => (flags.detach ? detached(words, flags.state, signal) : foreground(flags, env, signal)));
  const state = (): string => program.opts<Flags>().state;
  program
    .command('status')
    .description('show whether the lab is running, and its Services')
    .action(() => status(state()));
  program
    .command('down')
    .description('stop the lab and keep its state')
    .action(() => down(state()));
  program
    .command('reset')
    .description('stop the lab and delete its state')
    .action(() => reset(state()));
  for (const power of ['on', 'off'] as const)
    program
      .command(`power-${power} <node>`)
      .description(power === 'on' ? 'start a stopped node' : 'stop a node, as by a power cut')
      .action((node: string) => sendControlRequest(state(), { node, power }));
  await program.parseAsync([...words], { from: 'user' });
}

async function foreground(flags: Flags, env: Environment, signal: AbortSignal): Promise<void> {
  const { kubeconfig } = flags;
  enableCompileCache(compiledDirectory(env));
  // Imported after enabling the compile cache, so that it is cached.
  const { startLab } = await import('./start.ts');
  using screen = await screenFor(flags, env);
  cleanUpOnExit(screen, signal);
  const printLine = screen === undefined ? print : (line: string): void => screen.print(line);
  const openControlPlane = async (state: string): Promise<ControlPlane> =>
    kubeconfig === undefined
      ? (await import('./own-control-plane.ts')).ownControlPlane(state, printLine)
      : (await import('./existing-control-plane.ts')).existingControlPlane(kubeconfig);
  await startLab(flags, { env, print: printLine, screen, openControlPlane }, signal);
}

/** Restores the terminal and kills child processes when the lab exits. A second Ctrl-C exits at once. */
function cleanUpOnExit(screen: Screen | undefined, signal: AbortSignal): void {
  process.once('exit', () => {
    screen?.[Symbol.dispose]();
    killChildren();
  });
  const exitAtOnce = (): void => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(1));
  };
  void whenAborted(signal).then(exitAtOnce);
}

/** The live view for a terminal; plain lines for anything else. */
async function screenFor({ empty }: Flags, env: Environment): Promise<Screen | undefined> {
  if (!process.stdout.isTTY || empty || env['TERM'] === 'dumb') return undefined;
  return new (await import('./view/screen.ts')).Screen(process.stdout);
}

function status(state: string): void {
  const running = runningIn(state);
  if (running === undefined) return print(`No lab is running in ${state}.`);
  print(`A lab with ${running.nodes} nodes is running as process ${running.pid}.`);
  const ports = readHostPorts(state);
  for (const line of [...serviceLines(ports), ...hintsOf(running, ports)]) print(line);
}

async function down(state: string): Promise<void> {
  const running = runningIn(state);
  if (running === undefined) return print(`No lab is running in ${state}.`);
  process.kill(running.pid, 'SIGTERM');
  while (isAlive(running)) await sleep(50);
  print('The lab has stopped. Its state is kept.');
}

async function reset(state: string): Promise<void> {
  await down(state);
  using _lock = await lockState(state);
  await rm(state, { recursive: true, force: true });
  print(`Removed ${state}.`);
}
