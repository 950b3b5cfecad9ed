import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { customResourceDefinitions } from '../../kube/resource.ts';
import type { ControlPlane } from '../../lab/control-plane.ts';
import { type Lab, openLab } from '../../lab/lab.ts';
import { imageCatalog } from '../../lab/node/image/catalog.ts';
import { buildEtcd } from '../../lab/node/image/etcd-build.ts';
import { downloadEtcd } from '../../lab/node/image/etcd-download.ts';
import { LabStreams } from '../../lab/node/node-streams.ts';
import { Failure } from '../../std/failure.ts';
import { serveControl } from './control.ts';
import { createAll, exampleCluster, operatorManifests } from './manifests.ts';
import { cacheDirectory, compiledDirectory, forget, remember, runningIn } from './state.ts';

export interface StartOptions {
  readonly nodes: number;
  readonly etcdVersion?: string;
  readonly empty: boolean;
  readonly state: string;
}

export interface StartTools {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly openControlPlane: (state: string) => Promise<ControlPlane>;
  readonly say: (line: string) => void;
}

const packageDirectory = join(import.meta.dirname, '../../..');
const namespace = 'default';

/** Runs the lab until told to stop. */
export async function startLab(options: StartOptions, tools: StartTools, signal: AbortSignal): Promise<void> {
  const { state } = options;
  const other = runningIn(state);
  if (other !== undefined)
    throw new Failure('rejected', `a lab runs in ${state} already, as process ${other.pid}: "lab down" ends it`);
  const began = performance.now();
  const plane = await tools.openControlPlane(state);
  const lab = await open(options, tools, plane);
  plane.reach(new LabStreams(lab.kubelets));
  const end = new AbortController();
  const ends = AbortSignal.any([signal, end.signal]);
  const running = Promise.all([plane.run(ends), lab.run(ends)]).finally(() => end.abort());
  using _control = serveControl(state, lab);
  remember(state, { kubeconfig: plane.kubeconfig, nodes: options.nodes });
  try {
    await greet(options, { ...tools, plane, began });
    await running;
  } finally {
    end.abort();
    forget(state);
  }
}

async function open({ nodes, state }: StartOptions, { env, say }: StartTools, plane: ControlPlane): Promise<Lab> {
  const program = join(packageDirectory, 'src/main/etcd-operator.ts');
  const cache = cacheDirectory(env);
  const modules = join(packageDirectory, 'tools/programs');
  const findImage = imageCatalog({
    cache,
    brought: env['ETCD_OPERATOR_PROGRAMS'],
    say,
    make: [buildEtcd({ cache, modules, say }), downloadEtcd({ cache, say })],
    operator: { program, package: packageDirectory },
  });
  const onTrouble = (failure: Failure): void => say(`trouble: ${failure.message}`);
  const compiled = compiledDirectory(env);
  return await openLab({ client: plane.client, api: plane.api, nodes, state, findImage, compiled, onTrouble });
}

interface Greeting extends StartTools {
  readonly plane: ControlPlane;
  readonly began: number;
}

async function greet(options: StartOptions, { plane, say, began }: Greeting): Promise<void> {
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  say(`The lab is up after ${seconds} s, with ${options.nodes} nodes.\n\n  export KUBECONFIG=${plane.kubeconfig}\n`);
  if (options.empty) return;
  const { client } = plane;
  await createAll(client, await operatorManifests(), namespace);
  await untilServed(plane);
  await createAll(client, await exampleCluster(options.etcdVersion), namespace);
  say('Created the operator and example-etcd-cluster: try kubectl get pods --watch');
}

/** A new kind is served a moment after its definition was created. */
async function untilServed({ client }: ControlPlane): Promise<void> {
  const at = { name: 'etcdclusters.etcd.database.coreos.com' };
  for (let tries = 0; tries < 100; tries++) {
    const { status } = await client.get(customResourceDefinitions, at);
    const isServed = status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True');
    if (isServed === true) return;
    await sleep(50);
  }
  throw new Failure('unreachable', `${at.name} is still not served 5 s after it was created`);
}
