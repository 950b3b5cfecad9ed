import { rm } from 'node:fs/promises';
import { enableCompileCache } from 'node:module';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import type { ControlPlane } from '../../lab/control-plane.ts';
import { portsIn } from '../../lab/network/host-ports.ts';
import { whenAborted } from '../../std/when-aborted.ts';
import { count, dialects, version, versions } from './arguments.ts';
import { endChildren } from './children.ts';
import { ask } from './control.ts';
import { detached } from './detached.ts';
import { hintsOf, serviceLines } from './hints.ts';
import { lockState } from './lock.ts';
import type { Screen } from './screen.ts';
import type { StartOptions } from './start.ts';
import { compiledDirectory, isAlive, runningIn, stateDirectory } from './state.ts';

type Environment = Readonly<Record<string, string | undefined>>;

interface Flags extends StartOptions {
  readonly detach: boolean;
  readonly kubeconfig?: string;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const path = (text: string): string => resolve(text);

/** `etcd-operator lab`: a cluster on this machine, without root. */
export async function labCommand(words: readonly string[], env: Environment, signal: AbortSignal): Promise<void> {
  process.stdout.on('error', () => undefined); // somebody who reads no further must not end the lab
  const program = new Command('etcd-operator lab')
    .description('a Kubernetes for trying things, on this machine and without root')
    .option('--state <directory>', 'where it keeps everything', path, stateDirectory(env))
    .option('--nodes <count>', 'how many nodes it has', count, 3)
    .option(
      '--etcd-version <version>',
      "the etcd of the first cluster, 3.1.10 for the book's; by default the newest at hand",
      version,
    )
    .option('--etcd-versions <versions>', 'further versions of etcd to have ready, as in 3.5.35,3.6.16', versions, [])
    .option('--dialects <names>', 'the APIs that the operator serves: coreos, improbable, or both', dialects, [
      'coreos',
    ])
    .option('--empty', 'create neither the operator nor a cluster', false)
    .option('--detach', 'go on in the background', false)
    .option('--kubeconfig <file>', 'use an API server that runs already and has no nodes, instead of its own', path)
    .action((flags: Flags) => (flags.detach ? detached(words, flags.state, signal) : foreground(flags, env, signal)));
  const state = (): string => program.opts<Flags>().state;
  program
    .command('status')
    .description('say whether it runs')
    .action(() => status(state()));
  program
    .command('down')
    .description('stop it; its state is kept')
    .action(() => down(state()));
  program
    .command('reset')
    .description('stop it and throw its state away')
    .action(() => reset(state()));
  for (const power of ['on', 'off'] as const)
    program
      .command(`power-${power} <node>`)
      .description(power === 'on' ? 'switch a node on again' : "pull a node's plug")
      .action((node: string) => ask(state(), { node, power }));
  await program.parseAsync([...words], { from: 'user' });
}

async function foreground(flags: Flags, env: Environment, signal: AbortSignal): Promise<void> {
  const { kubeconfig } = flags;
  enableCompileCache(compiledDirectory(env));
  // Loaded only now, so that what is compiled of it is kept.
  const { startLab } = await import('./start.ts');
  using screen = await screenFor(flags, env);
  whenItEnds(screen, signal);
  const tell = screen === undefined ? say : (line: string): void => screen.say(line);
  const openControlPlane = async (state: string): Promise<ControlPlane> =>
    kubeconfig === undefined
      ? (await import('./own-control-plane.ts')).ownControlPlane(state, tell)
      : (await import('./existing-control-plane.ts')).existingControlPlane(kubeconfig);
  await startLab(flags, { env, say: tell, screen, openControlPlane }, signal);
}

/** However the lab ends, the terminal is as it was, and nothing goes on that it had begun; a second Ctrl-C ends it at once. */
function whenItEnds(screen: Screen | undefined, signal: AbortSignal): void {
  process.once('exit', () => {
    screen?.[Symbol.dispose]();
    endChildren();
  });
  const atOnce = (): void => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(1));
  };
  void whenAborted(signal).then(atOnce);
}

/** A terminal gets the live view, anything else plain lines. */
async function screenFor({ empty }: Flags, env: Environment): Promise<Screen | undefined> {
  if (!process.stdout.isTTY || empty || env['TERM'] === 'dumb') return undefined;
  return new (await import('./screen.ts')).Screen(process.stdout);
}

function status(state: string): void {
  const running = runningIn(state);
  if (running === undefined) return say(`No lab runs in ${state}.`);
  say(`A lab of ${running.nodes} nodes runs as process ${running.pid}.`);
  const ports = portsIn(state);
  for (const line of [...serviceLines(ports), ...hintsOf(running, ports)]) say(line);
}

async function down(state: string): Promise<void> {
  const running = runningIn(state);
  if (running === undefined) return say(`No lab runs in ${state}.`);
  process.kill(running.pid, 'SIGTERM');
  while (isAlive(running)) await sleep(50);
  say('The lab has ended; its state is kept.');
}

async function reset(state: string): Promise<void> {
  await down(state);
  using _lock = await lockState(state);
  await rm(state, { recursive: true, force: true });
  say(`Removed ${state}.`);
}
