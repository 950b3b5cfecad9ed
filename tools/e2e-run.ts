import { join } from 'node:path';
import { remove } from './cluster/down.ts';
import { kubectl, kubectlPath } from './cluster/kubectl.ts';
import { type Layout, layoutOf } from './cluster/layout.ts';
import { aloneWith } from './cluster/lock.ts';
import { bringUp, prepare } from './cluster/up.ts';
import { pushOperatorImage } from './images/publish.ts';
import { withProgress } from './lib/progress.ts';
import { run } from './lib/run.ts';
import { runSuite, type Suite, sum, type Tally } from './lib/suites.ts';

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

/** Which stories. */
interface Choice {
  /** Only those whose title matches. */
  readonly title?: string | undefined;
  /** Without those that were told on the lab, and are as good there. */
  readonly told?: 'lab';
}

/** Runs the stories on a test cluster of ours, which is started if it is not up and left as it is afterwards. */
export async function storiesOn(layout: Layout, { title, told }: Choice = {}): Promise<Tally> {
  await prepare(layout);
  {
    using _held = await aloneWith(layout);
    await withProgress(`starting cluster "${layout.name}"`, () => bringUp(layout));
  }
  await pushOperatorImage(layout);
  await kubectl(layout, applyDefinitions);
  return runStories({ ...environmentFor(layout), STORIES_TOLD: told ?? '' }, title);
}

/** Runs the stories that the lab has not told as well, and then the integration tests, on a cluster that is made for them and removed afterwards. */
export async function allOnOwnCluster(name: string): Promise<Tally> {
  const layout = layoutOf(name);
  await remove(layout);
  try {
    const stories = await storiesOn(layout, { told: 'lab' });
    return sum([stories, await runSuite({ projects: ['integration', 'contract'], env: environmentFor(layout) })]);
  } finally {
    await remove(layout);
  }
}

const environmentFor = ({ kubeconfig, name }: Layout): Readonly<Record<string, string>> => ({
  KUBECONFIG: kubeconfig,
  TEST_CLUSTER: name,
  PATH: `${join(kubectlPath(), '..')}:${process.env['PATH']}`,
});

/** Runs the stories on somebody else's cluster, without those that stop nodes. Our custom resource definition stays there. */
export async function storiesElsewhere(kubeconfig: string, title?: string): Promise<Tally> {
  const PATH = `${join(kubectlPath(), '..')}:${process.env['PATH']}`;
  await run(kubectlPath(), ['--kubeconfig', kubeconfig, ...applyDefinitions]);
  return runStories({ KUBECONFIG: kubeconfig, TEST_CLUSTER: '', PATH }, title);
}

function runStories(env: Readonly<Record<string, string>>, title: string | undefined): Promise<Tally> {
  const suite: Suite = { projects: storyProjects, env };
  return runSuite(title === undefined ? suite : { ...suite, title });
}
