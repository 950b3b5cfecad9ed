import { join } from 'node:path';
import { remove } from './cluster/down.ts';
import { kubectlPath } from './cluster/kubectl.ts';
import { type Layout, layoutOf } from './cluster/layout.ts';
import { aloneWith } from './cluster/lock.ts';
import { bringUp, prepare } from './cluster/up.ts';
import { pushOperatorImage } from './images/publish.ts';
import { withProgress } from './lib/progress.ts';
import { runSuite, type Suite, type Tally } from './lib/suites.ts';

const storyProjects = ['stories', 'stories alone'];

/** Runs the stories on a test cluster of ours, which is started if it is not up and left as it is afterwards. */
export async function storiesOn(layout: Layout, title?: string): Promise<Tally> {
  await prepare();
  {
    using _held = await aloneWith(layout);
    await withProgress(`starting cluster "${layout.name}"`, () => bringUp(layout));
  }
  await pushOperatorImage(layout);
  return runStories({ KUBECONFIG: layout.kubeconfig, TEST_CLUSTER: layout.name }, title);
}

/** Runs the stories on a cluster that is made for them and removed afterwards, whatever happened. */
export async function storiesOnOwnCluster(name: string): Promise<Tally> {
  const layout = layoutOf(name);
  await remove(layout);
  try {
    return await storiesOn(layout);
  } finally {
    await remove(layout);
  }
}

/** Runs the stories on somebody else's cluster, without those that stop nodes. */
export const storiesElsewhere = (kubeconfig: string, title?: string): Promise<Tally> =>
  runStories({ KUBECONFIG: kubeconfig, TEST_CLUSTER: '' }, title);

function runStories(env: Readonly<Record<string, string>>, title: string | undefined): Promise<Tally> {
  const path = `${join(kubectlPath(), '..')}:${process.env['PATH']}`;
  const suite: Suite = { projects: storyProjects, env: { ...env, PATH: path } };
  return runSuite(title === undefined ? suite : { ...suite, title });
}
