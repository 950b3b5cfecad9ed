import { attempt, type Ended, run } from '../lib/run.ts';
import { program } from '../programs/build.ts';
import type { Layout } from './layout.ts';
import { clusterEnvironment } from './machine.ts';

export const kubectlPath = (): string => program('kubernetes', 'kubectl');

/** Marks kubectl as part of the cluster, so that a kubectl left by a killed process ends with the cluster. */
const markedEnvironment = (layout: Layout): { readonly env: Readonly<Record<string, string>> } => ({
  env: clusterEnvironment(layout, 'kubectl'),
});

/** Runs kubectl as the cluster's administrator. */
export const kubectl = (layout: Layout, args: readonly string[], input = ''): Promise<string> =>
  run(kubectlPath(), ['--kubeconfig', layout.kubeconfig, ...args], { ...markedEnvironment(layout), input });

/** True if the API server is ready. */
export async function apiAnswers(layout: Layout): Promise<boolean> {
  const args = ['--kubeconfig', layout.kubeconfig, '--request-timeout=2s', 'get', '--raw', '/readyz'];
  const ended: Ended = await attempt(kubectlPath(), args, markedEnvironment(layout));
  return ended.code === 0;
}
