import { attempt, type Ended, run } from '../lib/run.ts';
import { program } from '../programs/build.ts';
import type { Layout } from './layout.ts';

export const kubectlPath = (): string => program('kubernetes', 'kubectl');

/** Runs kubectl as the cluster's administrator. */
export const kubectl = (layout: Layout, args: readonly string[], input?: string): Promise<string> =>
  run(kubectlPath(), ['--kubeconfig', layout.kubeconfig, ...args], input === undefined ? {} : { input });

/** Asks the API server whether it is ready to serve. */
export async function apiAnswers(layout: Layout): Promise<boolean> {
  const args = ['--kubeconfig', layout.kubeconfig, '--request-timeout=2s', 'get', '--raw', '/readyz'];
  const ended: Ended = await attempt(kubectlPath(), args);
  return ended.code === 0;
}
