import { spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import type { ControlPlane } from '../../lab/control-plane.ts';
import { Failure } from '../../std/failure.ts';
import { ask } from './control.ts';
import { type Dialect, isDialect } from './dialects.ts';
import { hintsOf } from './hints.ts';
import type { Screen } from './screen.ts';
import type { StartOptions } from './start.ts';
import { compiledDirectory, isAlive, runningIn, stateDirectory } from './state.ts';

type Environment = Readonly<Record<string, string | undefined>>;

interface Flags extends StartOptions {
  readonly detach: boolean;
  readonly kubeconfig?: string;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function count(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= 9) return number;
  throw new InvalidArgumentError('must be a whole number from 1 to 9');
}

const listed = (text: string): readonly string[] => text.split(',').map((each) => each.trim());

function versions(text: string): readonly string[] {
  const wrong = listed(text).find((version) => !/^\d+\.\d+\.\d+$/.test(version));
  if (wrong === undefined) return listed(text);
  throw new InvalidArgumentError(`"${wrong}" is no version: write them as in 3.5.35,3.6.16`);
}

function dialects(text: string): readonly Dialect[] {
  const wrong = listed(text).find((name) => !isDialect(name));
  if (wrong !== undefined) throw new InvalidArgumentError(`"${wrong}" is none: there are coreos and improbable`);
  const names = listed(text).filter(isDialect);
  if (names.includes('coreos')) return names;
  throw new InvalidArgumentError('coreos must be among them: the first cluster is one of its own');
}

/** `etcd-operator lab`: a cluster on this machine, without root. */
export async function labCommand(words: readonly string[], env: Environment, signal: AbortSignal): Promise<void> {
  process.stdout.on('error', () => undefined); // somebody who reads no further must not end the lab
  const program = new Command('etcd-operator lab')
    .description('a Kubernetes for trying things, on this machine and without root')
    .option('--state <directory>', 'where it keeps everything', stateDirectory(env))
    .option('--nodes <count>', 'how many nodes it has', count, 3)
    .option(
      '--etcd-version <version>',
      "the etcd of the first cluster, 3.1.10 for the book's; by default the newest at hand",
    )
    .option('--etcd-versions <versions>', 'further versions of etcd to have ready, as in 3.5.35,3.6.16', versions, [])
    .option('--dialects <names>', 'the APIs that the operator serves: coreos, or coreos,improbable', dialects, [
      'coreos',
    ])
    .option('--empty', 'create neither the operator nor a cluster', false)
    .option('--detach', 'go on in the background', false)
    .option('--kubeconfig <file>', 'use an API server that runs already and has no nodes, instead of its own')
    .action((flags: Flags) => (flags.detach ? detached(words, flags) : foreground(flags, env, signal)));
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
  const openControlPlane = async (state: string): Promise<ControlPlane> =>
    kubeconfig === undefined
      ? (await import('./own-control-plane.ts')).ownControlPlane(state)
      : (await import('./existing-control-plane.ts')).existingControlPlane(kubeconfig);
  using screen = await screenFor(flags, env);
  const tell = screen === undefined ? say : (line: string): void => screen.say(line);
  await startLab(flags, { env, say: tell, screen, openControlPlane }, signal);
}

/** A terminal gets the live view, anything else plain lines. */
async function screenFor({ empty }: Flags, env: Environment): Promise<Screen | undefined> {
  if (!process.stdout.isTTY || empty || env['TERM'] === 'dumb') return undefined;
  return new (await import('./screen.ts')).Screen(process.stdout);
}

/** Starts the same again without a terminal, and returns when all is there that it begins with. */
async function detached(words: readonly string[], { state }: Flags): Promise<void> {
  mkdirSync(state, { recursive: true });
  const file = join(state, 'lab.log');
  const log = openSync(file, 'w');
  const args = [...process.execArgv, process.argv[1] ?? '', 'lab', ...words.filter((word) => word !== '--detach')];
  const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', log, log] });
  let code: number | null | undefined;
  child.once('exit', (ended) => (code = ended));
  let shown = 0;
  const isUp = (): boolean => runningIn(state)?.pid === child.pid && runningIn(state)?.isWelcoming === true;
  for (let isOver = false; !isOver; await sleep(50)) {
    isOver = isUp();
    const said = readFileSync(file).subarray(shown);
    shown += said.length;
    process.stdout.write(said);
    if (code !== undefined) throw new Failure('rejected', `the lab did not start: see ${file}`);
  }
  child.unref();
}

function status(state: string): void {
  const running = runningIn(state);
  if (running === undefined) return say(`No lab runs in ${state}.`);
  say(`A lab of ${running.nodes} nodes runs as process ${running.pid}.`);
  for (const line of hintsOf(running)) say(line);
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
  await rm(state, { recursive: true, force: true });
  say(`Removed ${state}.`);
}
