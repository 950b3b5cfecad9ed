import { attempt, type Ended, run } from '../lib/run.ts';
import { program } from '../programs/build.ts';
import type { Layout } from './layout.ts';
import { markOf } from './machine.ts';

export const kubectlPath = (): string => program('kubernetes', 'kubectl');

/** A kubectl that outlives us, because we were killed, must not outlive the cluster. */
const marked = (layout: Layout): { readonly env: Readonly<Record<string, string>> } => ({
  env: markOf(layout, 'kubectl'),
});

/** Runs kubectl as the cluster's administrator. */
export const kubectl = (layout: Layout, args: readonly string[], input = ''): Promise<string> =>
  run(kubectlPath(), ['--kubeconfig', layout.kubeconfig, ...args], { ...marked(layout), input });

/** Asks the API server whether it is ready to serve. */
export async function apiAnswers(layout: Layout): Promise<boolean> {
  const args = ['--kubeconfig', layout.kubeconfig, '--request-timeout=2s', 'get', '--raw', '/readyz'];
  const ended: Ended = await attempt(kubectlPath(), args, marked(layout));
  return ended.code === 0;
}
