import { join } from 'node:path';
import { Command } from 'commander';
import { runMain } from '../lib/main.ts';
import { withProgress } from '../lib/progress.ts';
import { remove } from './down.ts';
import { kubectlPath } from './kubectl.ts';
import { layoutOf } from './layout.ts';
import { lockCluster } from './lock.ts';
import { cutOff, rejoin, startNode, stopNode } from './nodes.ts';
import { assertPrivileges } from './preflight.ts';
import { bringUp, prepare } from './up.ts';

async function up(name: string): Promise<void> {
  const layout = layoutOf(name);
  await prepare(layout);
  using _held = await lockCluster(layout);
  const began = performance.now();
  const outcome = await withProgress(`starting cluster "${name}"`, () => bringUp(layout));
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  process.stdout.write(
    outcome === 'started' ? `Cluster "${name}" is up after ${seconds} s.\n` : `Cluster "${name}" was up already.\n`,
  );
  process.stdout.write(
    `\n  export KUBECONFIG=${layout.kubeconfig}\n  export PATH=${join(kubectlPath(), '..')}:$PATH\n\n`,
  );
}

async function down(name: string): Promise<void> {
  assertPrivileges();
  const layout = layoutOf(name);
  using _held = await lockCluster(layout);
  await withProgress(`removing cluster "${name}"`, () => remove(layout));
}

const program = new Command('cluster').description('a real Kubernetes of three nodes on this machine');
const named = (command: string, description: string): Command =>
  program.command(command).description(description).option('--name <name>', 'name of the cluster', 'dev');

type Options = { readonly name: string };
named('up', 'start the cluster if it is not up').action(({ name }: Options) => up(name));
named('down', 'remove the cluster completely').action(({ name }: Options) => down(name));
named('stop-node <node>', 'power a node off').action((node: string, { name }: Options) =>
  stopNode(layoutOf(name), node),
);
named('start-node <node>', 'start a stopped node').action((node: string, { name }: Options) =>
  startNode(layoutOf(name), node),
);
named('cut <node> <node>', 'cut the network between two nodes').action(
  (one: string, other: string, { name }: Options) => cutOff(layoutOf(name), one, other),
);
named('join <node> <node>', 'restore the network between two nodes').action(
  (one: string, other: string, { name }: Options) => rejoin(layoutOf(name), one, other),
);

await runMain(async () => {
  await program.parseAsync();
});
