import { join } from 'node:path';
import { Command } from 'commander';
import { runMain } from '../lib/main.ts';
import { withProgress } from '../lib/progress.ts';
import { remove } from './down.ts';
import { kubectlPath } from './kubectl.ts';
import { layoutOf } from './layout.ts';
import { aloneWith } from './lock.ts';
import { cutOff, joinAgain, startNode, stopNode } from './nodes.ts';
import { assertPrivileges } from './preflight.ts';
import { bringUp, prepare } from './up.ts';

async function up(name: string): Promise<void> {
  const layout = layoutOf(name);
  await prepare(layout);
  using _held = await aloneWith(layout);
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
  using _held = await aloneWith(layout);
  await withProgress(`removing cluster "${name}"`, () => remove(layout));
}

const program = new Command('cluster').description('a real Kubernetes of three nodes on this machine');
const named = (command: string, says: string): Command =>
  program.command(command).description(says).option('--name <name>', 'which cluster', 'dev');

type Options = { readonly name: string };
named('up', 'start it, or say that it is up').action(({ name }: Options) => up(name));
named('down', 'remove every trace of it').action(({ name }: Options) => down(name));
named('stop-node <node>', "pull a node's plug").action((node: string, { name }: Options) =>
  stopNode(layoutOf(name), node),
);
named('start-node <node>', 'switch a node on again').action((node: string, { name }: Options) =>
  startNode(layoutOf(name), node),
);
named('cut <node> <node>', 'cut two nodes off from each other').action(
  (one: string, other: string, { name }: Options) => cutOff(layoutOf(name), one, other),
);
named('join <node> <node>', 'undo a cut').action((one: string, other: string, { name }: Options) =>
  joinAgain(layoutOf(name), one, other),
);

await runMain(async () => {
  await program.parseAsync();
});
