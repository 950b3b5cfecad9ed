import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { findKubectl } from '../../lab/cli/kubectl.ts';
import { runningIn } from '../../lab/cli/state.ts';
import { cacheDirectory } from '../../tools/lib/cache.ts';
import { run } from '../../tools/lib/run.ts';
import { resultsDirectory } from '../../tools/lib/suites.ts';
import { etcdVersions } from '../../tools/programs/catalog.ts';
import { LabHome } from './lab-home.ts';
import { labPrograms, shortVersions } from './lab-programs.ts';
import { until } from './until.ts';

const root = join(import.meta.dirname, '../..');
const logFile = join(resultsDirectory, 'stories-on-the-lab.log');
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Starts one lab for all stories, as an ordinary user, with our CRDs only. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env['STORIES_ON'] === 'lab') return undefined; // started for another project of this run
  const home = new LabHome(
    await labPrograms(process.env['STORIES_VERSIONS'] === 'short' ? shortVersions : etcdVersions),
  );
  const operator = await home.useOperatorBundle(process.env['LAB_OPERATOR_PROGRAM']);
  await home.giveToUser();
  mkdirSync(resultsDirectory, { recursive: true });
  const lab = home.command(['--empty', '--nodes', '3'], openSync(logFile, 'w'));
  await until('the lab is up', async () => {
    if (lab.exitCode !== null) throw new Error(`the lab ended: ${readFileSync(logFile, 'utf8')}`);
    return runningIn(home.state)?.isReady;
  });
  // Otherwise, on a busy machine, the clients of stories wait for CPU.
  if (process.getuid?.() === 0) setPriority(constants.priority.PRIORITY_ABOVE_NORMAL);
  const kubectl = await findKubectl({ cache: cacheDirectory(), print });
  Object.assign(process.env, {
    STORIES_ON: 'lab',
    LAB_STATE: home.state,
    LAB_OPERATOR_PROGRAM: operator,
    TEST_CLUSTER: '',
    IMAGE: 'etcd-operator:latest',
    KUBECONFIG: join(home.state, 'kubeconfig'),
    KUBECACHEDIR: join(home.directory, 'kubectl'),
    PATH: `${kubectl.directory}:${process.env['PATH']}`,
  });
  await run('kubectl', ['apply', '--server-side', ...definitions().flatMap((file) => ['-f', file])]);
  return () => end(lab, home);
}

const definitions = (): readonly string[] =>
  globSync('examples/{coreos/*-crd.yaml,improbable/crd/etcd*.yaml}', { cwd: root }).map((file) => join(root, file));

async function end(lab: ChildProcess, home: LabHome): Promise<void> {
  const ended = once(lab, 'exit');
  lab.kill('SIGTERM');
  await ended;
  const left = home.leftovers();
  await rm(home.directory, { recursive: true, force: true });
  if (left.length > 0) throw new Error(`the lab left behind: ${left.join(', ')}`);
}
