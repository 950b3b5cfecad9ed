import { join } from 'node:path';
import type { ControlPlane } from '../../lab/control-plane.ts';
import { type Lab, openLab } from '../../lab/lab.ts';
import { imageCatalog } from '../../lab/node/image/catalog.ts';
import { buildEtcd } from '../../lab/node/image/etcd-build.ts';
import { downloadEtcd } from '../../lab/node/image/etcd-download.ts';
import { type EtcdPrograms, type EtcdSources, findEtcd } from '../../lab/node/image/etcd-programs.ts';
import { LabStreams } from '../../lab/node/node-streams.ts';
import { Failure } from '../../std/failure.ts';
import { serveControl } from './control.ts';
import type { Dialect } from './dialects.ts';
import { createFirstCluster } from './first-cluster.ts';
import { hintsOf } from './hints.ts';
import { findKubectl, type Kubectl } from './kubectl.ts';
import { Narrator } from './narrator.ts';
import { returned } from './returned.ts';
import type { Screen } from './screen.ts';
import { showOn } from './show.ts';
import { cacheDirectory, compiledDirectory, forget, remember, runningIn } from './state.ts';

export interface StartOptions {
  readonly nodes: number;
  readonly etcdVersion?: string;
  /** Versions to have ready beside the first cluster's. */
  readonly etcdVersions: readonly string[];
  readonly dialects: readonly Dialect[];
  readonly empty: boolean;
  readonly state: string;
}

export interface StartTools {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly openControlPlane: (state: string) => Promise<ControlPlane>;
  readonly say: (line: string) => void;
  /** The live view, where there is a terminal. */
  readonly screen?: Screen | undefined;
}

const packageDirectory = join(import.meta.dirname, '../../..');
const namespace = 'default';

/** Runs the lab until told to stop. */
export async function startLab(options: StartOptions, tools: StartTools, signal: AbortSignal): Promise<void> {
  const { state, nodes } = options;
  const other = runningIn(state);
  if (other !== undefined)
    throw new Failure('rejected', `a lab runs in ${state} already, as process ${other.pid}: "lab down" ends it`);
  const began = performance.now();
  const programs = findPrograms(options, tools);
  programs.catch(() => undefined); // awaited below, unless the lab itself cannot be opened
  const plane = await tools.openControlPlane(state);
  const lab = await open(options, tools, plane);
  plane.reach(new LabStreams(lab));
  const end = new AbortController();
  const ends = AbortSignal.any([signal, end.signal]);
  const running = Promise.all([plane.run(ends), lab.run(ends)]).finally(() => end.abort());
  using _control = serveControl(state, lab);
  remember(state, { kubeconfig: plane.kubeconfig, nodes });
  try {
    await Promise.race([running, welcome({ options, tools, plane, lab, programs, began }, ends)]);
    await running;
  } finally {
    end.abort();
    await running.catch(() => undefined);
    forget(state);
  }
}

interface Programs {
  readonly etcd: EtcdPrograms | undefined;
  readonly kubectl: Kubectl | undefined;
}

function sourcesOf({ env, say }: StartTools): EtcdSources {
  const cache = cacheDirectory(env);
  const modules = join(packageDirectory, 'tools/programs');
  const make = [buildEtcd({ cache, modules, say }), downloadEtcd({ cache, say })];
  return { cache, brought: env['ETCD_OPERATOR_PROGRAMS'], say, make };
}

/** The etcd of the first cluster, and a kubectl; the lab is of use without the latter too. */
async function findPrograms(options: StartOptions, tools: StartTools): Promise<Programs> {
  const { empty, etcdVersion, etcdVersions } = options;
  const { say } = tools;
  const sources = sourcesOf(tools);
  const [etcd, kubectl] = await Promise.all([
    empty ? undefined : findEtcd(etcdVersion ?? 'any', sources),
    findKubectl(sources).catch((thrown: unknown) => say(`no kubectl: ${Failure.from(thrown).message}`)),
  ]);
  for (const version of etcdVersions) {
    const { from } = await findEtcd(version, sources);
    say(`etcd ${version}: ready, from ${from}`);
  }
  return { etcd, kubectl: kubectl ?? undefined };
}

async function open({ nodes, state }: StartOptions, tools: StartTools, plane: ControlPlane): Promise<Lab> {
  const program = join(packageDirectory, 'src/main/etcd-operator.ts');
  const findImage = imageCatalog({ ...sourcesOf(tools), operator: { program, package: packageDirectory } });
  const onTrouble = (failure: Failure): void => tools.say(`trouble: ${failure.message}`);
  const compiled = compiledDirectory(tools.env);
  return await openLab({ client: plane.client, api: plane.api, nodes, state, findImage, compiled, onTrouble });
}

interface Welcome {
  readonly options: StartOptions;
  readonly tools: StartTools;
  readonly plane: ControlPlane;
  readonly lab: Lab;
  readonly programs: Promise<Programs>;
  readonly began: number;
}

/** Creates what the lab begins with, tells how it becomes healthy, and says what to try next. */
async function welcome({ options, tools, plane, lab, programs, began }: Welcome, signal: AbortSignal): Promise<void> {
  const { say, screen } = tools;
  const { nodes, empty, state, dialects } = options;
  const seconds = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s`;
  say(`The lab is up after ${seconds()}, with ${nodes} nodes.`);
  const { etcd, kubectl } = await programs;
  if (etcd !== undefined) {
    const { client } = plane;
    const tell = (line: string): void => say(`${seconds()}  ${line}`);
    const narrator = new Narrator({ client, namespace, tell, onChange: () => screen?.draw() });
    const name = await createFirstCluster({ client, namespace, etcd, dialects, say });
    const settled = narrator.settled(name);
    void narrator.run(signal);
    const shown = { narrator, lab, namespace };
    if (screen !== undefined) void showOn(screen, shown, signal);
    await Promise.race([settled, returned(name, shown, signal)]);
    if (signal.aborted) return;
  }
  const running = { kubeconfig: plane.kubeconfig, nodes, ...(kubectl && { kubectl }), isWelcoming: true, empty };
  remember(state, running);
  if (screen === undefined) for (const line of hintsOf(running)) say(line);
  else screen.hints = hintsOf(running);
}
