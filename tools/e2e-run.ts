import { join } from 'node:path';
import { bundleOf } from './bundle.ts';
import { remove } from './cluster/down.ts';
import { kubectl, kubectlPath } from './cluster/kubectl.ts';
import { type Layout, layoutOf } from './cluster/layout.ts';
import { lockCluster } from './cluster/lock.ts';
import { runningMachine } from './cluster/machine.ts';
import { bringUp, controlPlane, prepare } from './cluster/up.ts';
import { pushOperatorImage } from './images/publish.ts';
import { treeSeconds } from './lib/cpu.ts';
import { withProgress } from './lib/progress.ts';
import { run } from './lib/run.ts';
import { runSuite, type Suite, type Tally } from './lib/suites.ts';

const definitions = [
  'coreos/etcd-operator-crd.yaml',
  'coreos/etcd-backup-operator-crd.yaml',
  'coreos/etcd-restore-operator-crd.yaml',
  'improbable/crd/etcdbackups.yaml',
  'improbable/crd/etcdbackupschedules.yaml',
  'improbable/crd/etcdclusters.yaml',
  'improbable/crd/etcdpeers.yaml',
  'improbable/crd/etcdrestores.yaml',
];
const applyDefinitions = [
  ...['apply', '--server-side'],
  ...definitions.flatMap((file) => ['-f', join(import.meta.dirname, '../examples', file)]),
];
const storyProjects = ['stories', 'stories alone'];

/** Runs the stories on a test cluster. The cluster is started if needed, and keeps running afterwards. */
export async function storiesOnTestCluster(
  layout: Layout,
  title?: string,
  { env = {}, options = [] }: Pick<Suite, 'env' | 'options'> = {},
): Promise<Tally> {
  return runStories({ ...(await prepared(layout)), ...env }, title, options);
}

/** Starts a test cluster with our image and CRDs; returns the environment variables for the stories. */
async function prepared(layout: Layout): Promise<Readonly<Record<string, string>>> {
  await prepare(layout);
  {
    using _held = await lockCluster(layout);
    await withProgress(`starting cluster "${layout.name}"`, () => bringUp(layout));
  }
  await pushOperatorImage(layout);
  await kubectl(layout, applyDefinitions);
  return environmentFor(layout);
}

/** A cluster that is removed after use. `env` are the environment variables for suites. */
export interface OwnCluster {
  readonly env: Readonly<Record<string, string>>;
  /** The CPU seconds of its control plane, nodes and pods so far. */
  readonly cpuSeconds: () => number;
}

export async function withOwnCluster<T>(name: string, use: (cluster: OwnCluster) => Promise<T>): Promise<T> {
  const layout = layoutOf(name);
  await remove(layout);
  try {
    const env = await prepared(layout);
    const machines = [controlPlane, ...layout.nodes.map((node) => node.name)];
    const cpuSeconds = (): number =>
      treeSeconds(machines.map((machine) => runningMachine(layout, machine)).filter((pid) => pid !== undefined));
    return await use({ env, cpuSeconds });
  } finally {
    await remove(layout);
  }
}

const environmentFor = ({ kubeconfig, name }: Layout): Readonly<Record<string, string>> => ({
  KUBECONFIG: kubeconfig,
  TEST_CLUSTER: name,
  // The bundle in the pushed image: stories that run the operator as a process use the same bundle.
  LAB_OPERATOR_PROGRAM: bundleOf('etcd-operator'),
  PATH: `${join(kubectlPath(), '..')}:${process.env['PATH']}`,
});

/** Runs the stories on an existing cluster, without stories that stop nodes. The CRDs stay installed. */
export async function storiesOnOtherCluster(kubeconfig: string, title?: string): Promise<Tally> {
  const PATH = `${join(kubectlPath(), '..')}:${process.env['PATH']}`;
  await run(kubectlPath(), ['--kubeconfig', kubeconfig, ...applyDefinitions]);
  return runStories({ KUBECONFIG: kubeconfig, TEST_CLUSTER: '', PATH }, title);
}

function runStories(
  env: Readonly<Record<string, string>>,
  title: string | undefined,
  options: readonly string[] = [],
): Promise<Tally> {
  const suite: Suite = { projects: storyProjects, env, options };
  return runSuite(title === undefined ? suite : { ...suite, title });
}
