import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../src/std/failure.ts';
import type { ControlPlane } from '../control-plane.ts';
import { type CatalogOptions, imageCatalog } from '../kubelet/image/catalog.ts';
import { buildEtcd } from '../kubelet/image/etcd-build.ts';
import { downloadEtcd } from '../kubelet/image/etcd-download.ts';
import { type EtcdPrograms, type EtcdSources, etcdctlOf, findEtcd } from '../kubelet/image/etcd-programs.ts';
import { streamsOf } from '../kubelet/node-streams.ts';
import { type Lab, openLab } from '../lab.ts';
import { readHostPorts } from '../network/host-ports.ts';
import { serveControl } from './control.ts';
import { type Dialect, definedDialects } from './dialects.ts';
import { createFirstCluster } from './first-cluster.ts';
import { findKubectl, type Kubectl } from './kubectl.ts';
import { lockState } from './lock.ts';
import { cacheDirectory, compiledDirectory, removeRunning, writeRunning } from './state.ts';
import { ClusterWatcher } from './view/cluster-watcher.ts';
import { hintsOf } from './view/hints.ts';
import { refreshScreen } from './view/refresh-screen.ts';
import type { Screen } from './view/screen.ts';
import { untilReadyAgain } from './view/until-ready-again.ts';

export interface StartOptions {
  readonly nodes: number;
  readonly etcdVersion?: string;
  /** Further versions to fetch or build. */
  readonly etcdVersions: readonly string[];
  readonly dialects: readonly Dialect[];
  readonly empty: boolean;
  readonly state: string;
}

export interface LabStartContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly openControlPlane: (state: string) => Promise<ControlPlane>;
  readonly print: (line: string) => void;
  /** The live view, if stdout is a terminal. */
  readonly screen?: Screen | undefined;
}

const packageDirectory = join(import.meta.dirname, '../..');
const namespace = 'default';

/** Runs the lab until the signal aborts. */
export async function startLab(options: StartOptions, context: LabStartContext, signal: AbortSignal): Promise<void> {
  const { state, nodes } = options;
  using _lock = await lockState(state);
  const since = Date.now();
  const programs = findPrograms(options, context);
  // The promises are awaited below. If the lab cannot be opened, their errors do not matter.
  for (const found of Object.values(programs)) found.catch(() => undefined);
  const plane = await context.openControlPlane(state);
  const lab = await open(options, context, plane);
  plane.setNodeStreams(streamsOf(lab));
  const end = new AbortController();
  const ended = AbortSignal.any([signal, end.signal]);
  const running = Promise.all([plane.run(ended), lab.run(ended)]).finally(() => end.abort());
  using _control = serveControl(state, lab, failurePrinter(context));
  writeRunning(state, { kubeconfig: plane.kubeconfig, nodes });
  try {
    const started = reportStartup({ options, context, plane, lab, programs, since }, ended).catch((thrown: unknown) => {
      if (!ended.aborted) throw thrown; // after an abort the connections are closed
    });
    await Promise.race([running, started]);
    await running;
  } finally {
    end.abort();
    await running.catch(() => undefined);
    removeRunning(state);
  }
}

/** Each program is a promise of its own: the first cluster does not wait for a kubectl that takes minutes to build. */
interface Programs {
  readonly etcd: Promise<EtcdPrograms | undefined>;
  readonly kubectl: Promise<Kubectl | undefined>;
  /** Resolves when the further etcd versions are ready. */
  readonly further: Promise<void>;
}

function sourcesOf({ env, print }: LabStartContext): EtcdSources {
  const cache = cacheDirectory(env);
  const modules = join(packageDirectory, 'tools/programs');
  const make = [buildEtcd({ cache, modules, print }), downloadEtcd({ cache, print })];
  return { cache, extra: env['ETCD_OPERATOR_PROGRAMS'], print, make };
}

/** The etcd of the first cluster, and a kubectl. The lab runs without a kubectl too. */
function findPrograms({ empty, etcdVersion, etcdVersions }: StartOptions, context: LabStartContext): Programs {
  const { print } = context;
  const sources = sourcesOf(context);
  const etcd = empty ? Promise.resolve(undefined) : findEtcd(etcdVersion ?? 'any', sources);
  const kubectl = findKubectl(sources).catch((thrown: unknown) => {
    print(`no kubectl: ${Failure.from(thrown).message}`);
    return undefined;
  });
  return { etcd, kubectl, further: etcd.then(() => prepareVersions(etcdVersions, sources)) };
}

async function prepareVersions(versions: readonly string[], sources: EtcdSources): Promise<void> {
  for (const version of versions) {
    const { from } = await findEtcd(version, sources);
    sources.print(`etcd ${version}: ready, from ${from}`);
  }
}

const failurePrinter =
  ({ print }: LabStartContext) =>
  (failure: Failure): void =>
    print(`error: ${failure.message}`);

/** The program of the operator's image: these sources, or in tests a bundle of them, which starts faster. */
function operatorIn(env: LabStartContext['env']): CatalogOptions['operator'] {
  const given = env['LAB_OPERATOR_PROGRAM'];
  if (given) return { program: given, package: dirname(given) };
  return { program: join(packageDirectory, 'src/operator/etcd-operator.ts'), package: packageDirectory };
}

/** Opens the lab; closes the control plane if that fails. */
async function open({ nodes, state }: StartOptions, context: LabStartContext, plane: ControlPlane): Promise<Lab> {
  const findImage = imageCatalog({ ...sourcesOf(context), operator: operatorIn(context.env) });
  const common = { client: plane.client, api: plane.api, onFailure: failurePrinter(context) };
  const compiled = compiledDirectory(context.env);
  return await openLab({ ...common, nodes, state, findImage, compiled }).catch(async (thrown: unknown) => {
    await plane.run(AbortSignal.abort());
    throw thrown;
  });
}

interface Startup {
  readonly options: StartOptions;
  readonly context: LabStartContext;
  readonly plane: ControlPlane;
  readonly lab: Lab;
  readonly programs: Programs;
  /** The start of the lab, in milliseconds. */
  readonly since: number;
}

/** How long the first cluster may take to become healthy before the hints are printed. */
const patienceMillis = 60_000;
const secondsSince = (since: number): string => `${((Date.now() - since) / 1000).toFixed(1)} s`;

/** Creates the first cluster, reports its progress, and prints what to try next. */
async function reportStartup(startup: Startup, signal: AbortSignal): Promise<void> {
  const { options, context, plane, programs, since } = startup;
  const { print, screen } = context;
  const { nodes, empty, state, dialects } = options;
  print(`The lab is up after ${secondsSince(since)}, with ${nodes} nodes.`);
  const [etcd] = await Promise.all([programs.etcd, programs.further]);
  if (etcd !== undefined) await untilHealthy(startup, etcd, signal);
  const kubectl = await programs.kubectl;
  if (signal.aborted) return;
  const { kubeconfig } = plane;
  const etcdctl = etcd && etcdctlOf(etcd);
  const found = { ...(kubectl && { kubectl }), ...(etcdctl !== undefined && { etcdctl }) };
  const running = { kubeconfig, nodes, ...found, isReady: true, empty, dialects };
  const hints = hintsOf(running, readHostPorts(state));
  if (screen === undefined) for (const line of hints) print(line);
  else screen.hints = hints;
  writeRunning(state, running); // last: readers of isReady expect all output before it
}

/** Creates the first cluster and reports its changes until it is healthy or a minute is over. */
async function untilHealthy(startup: Startup, etcd: EtcdPrograms, signal: AbortSignal): Promise<void> {
  const { options, context, plane, lab, since } = startup;
  const { client } = plane;
  const { print, screen } = context;
  const cluster = await createFirstCluster({ client, namespace, etcd, dialects: options.dialects, print });
  const report = (line: string): void => print(`${secondsSince(since)}  ${line}`);
  const dialects = await definedDialects(client);
  const watcher = new ClusterWatcher({ client, dialects, since, print: report, onChange: () => screen?.draw() });
  const settled = watcher.settled(cluster);
  void watcher.run(signal);
  const shown = { watcher, lab, since };
  if (screen !== undefined) void refreshScreen(screen, shown, signal);
  const late = sleep(patienceMillis, 'late', { signal }).catch(() => undefined);
  const outcome = await Promise.race([settled, untilReadyAgain(cluster, shown, signal), late]);
  if (outcome === 'late')
    report(
      `${cluster.metadata.name} is not healthy after ${patienceMillis / 1000} s: inspect it with the commands below`,
    );
}
