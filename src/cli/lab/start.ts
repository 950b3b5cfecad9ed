import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../../lab/control-plane.ts';
import { type Lab, openLab } from '../../lab/lab.ts';
import { portsIn } from '../../lab/network/host-ports.ts';
import { type CatalogOptions, imageCatalog } from '../../lab/node/image/catalog.ts';
import { buildEtcd } from '../../lab/node/image/etcd-build.ts';
import { downloadEtcd } from '../../lab/node/image/etcd-download.ts';
import { type EtcdPrograms, type EtcdSources, etcdctlOf, findEtcd } from '../../lab/node/image/etcd-programs.ts';
import { streamsOf } from '../../lab/node/node-streams.ts';
import { Failure } from '../../std/failure.ts';
import { serveControl } from './control.ts';
import { type Dialect, definedDialects } from './dialects.ts';
import { createFirstCluster } from './first-cluster.ts';
import { hintsOf } from './hints.ts';
import { findKubectl, type Kubectl } from './kubectl.ts';
import { lockState } from './lock.ts';
import { Narrator } from './narrator.ts';
import { returned } from './returned.ts';
import type { Screen } from './screen.ts';
import { showOn } from './show.ts';
import { cacheDirectory, compiledDirectory, forget, remember } from './state.ts';

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
  using _lock = await lockState(state);
  const since = Date.now();
  const programs = findPrograms(options, tools);
  // They are awaited below, unless the lab itself cannot be opened.
  for (const found of Object.values(programs)) found.catch(() => undefined);
  const plane = await tools.openControlPlane(state);
  const lab = await open(options, tools, plane);
  plane.reach(streamsOf(lab));
  const end = new AbortController();
  const ends = AbortSignal.any([signal, end.signal]);
  const running = Promise.all([plane.run(ends), lab.run(ends)]).finally(() => end.abort());
  using _control = serveControl(state, lab, troubleTo(tools));
  remember(state, { kubeconfig: plane.kubeconfig, nodes });
  try {
    const welcomed = welcome({ options, tools, plane, lab, programs, since }, ends).catch((thrown: unknown) => {
      if (!ends.aborted) throw thrown; // else it is because nobody is there any more
    });
    await Promise.race([running, welcomed]);
    await running;
  } finally {
    end.abort();
    await running.catch(() => undefined);
    forget(state);
  }
}

/** Each is there as soon as it is found: the first cluster need not wait for a kubectl that takes minutes to build. */
interface Programs {
  readonly etcd: Promise<EtcdPrograms | undefined>;
  readonly kubectl: Promise<Kubectl | undefined>;
  /** Kept when the further versions of etcd are there too. */
  readonly further: Promise<void>;
}

function sourcesOf({ env, say }: StartTools): EtcdSources {
  const cache = cacheDirectory(env);
  const modules = join(packageDirectory, 'tools/programs');
  const make = [buildEtcd({ cache, modules, say }), downloadEtcd({ cache, say })];
  return { cache, brought: env['ETCD_OPERATOR_PROGRAMS'], say, make };
}

/** The etcd of the first cluster, and a kubectl; the lab is of use without the latter too. */
function findPrograms({ empty, etcdVersion, etcdVersions }: StartOptions, tools: StartTools): Programs {
  const { say } = tools;
  const sources = sourcesOf(tools);
  const etcd = empty ? Promise.resolve(undefined) : findEtcd(etcdVersion ?? 'any', sources);
  const kubectl = findKubectl(sources).catch((thrown: unknown) => {
    say(`no kubectl: ${Failure.from(thrown).message}`);
    return undefined;
  });
  return { etcd, kubectl, further: etcd.then(() => makeReady(etcdVersions, sources)) };
}

async function makeReady(versions: readonly string[], sources: EtcdSources): Promise<void> {
  for (const version of versions) {
    const { from } = await findEtcd(version, sources);
    sources.say(`etcd ${version}: ready, from ${from}`);
  }
}

const troubleTo =
  ({ say }: StartTools) =>
  (failure: Failure): void =>
    say(`trouble: ${failure.message}`);

/** What the image of the operator runs: these sources; in tests, a bundle of them, which starts in half of the time. */
function operatorIn(env: StartTools['env']): CatalogOptions['operator'] {
  const given = env['LAB_OPERATOR_PROGRAM'];
  if (given) return { program: given, package: dirname(given) };
  return { program: join(packageDirectory, 'src/main/etcd-operator.ts'), package: packageDirectory };
}

/** Without a lab nobody needs its control plane, which would go on serving by itself. */
async function open({ nodes, state }: StartOptions, tools: StartTools, plane: ControlPlane): Promise<Lab> {
  const findImage = imageCatalog({ ...sourcesOf(tools), operator: operatorIn(tools.env) });
  const common = { client: plane.client, api: plane.api, onTrouble: troubleTo(tools) };
  const compiled = compiledDirectory(tools.env);
  return await openLab({ ...common, nodes, state, findImage, compiled }).catch(async (thrown: unknown) => {
    await plane.run(AbortSignal.abort());
    throw thrown;
  });
}

interface Welcome {
  readonly options: StartOptions;
  readonly tools: StartTools;
  readonly plane: ControlPlane;
  readonly lab: Lab;
  readonly programs: Programs;
  /** When the lab began, in milliseconds. */
  readonly since: number;
}

/** How long a cluster may take to become healthy before somebody is told how to look at it. */
const patienceMillis = 60_000;
const secondsSince = (since: number): string => `${((Date.now() - since) / 1000).toFixed(1)} s`;

/** Creates what the lab begins with, tells how it becomes healthy, and says what to try next. */
async function welcome(begun: Welcome, signal: AbortSignal): Promise<void> {
  const { options, tools, plane, programs, since } = begun;
  const { say, screen } = tools;
  const { nodes, empty, state, dialects } = options;
  say(`The lab is up after ${secondsSince(since)}, with ${nodes} nodes.`);
  const [etcd] = await Promise.all([programs.etcd, programs.further]);
  if (etcd !== undefined) await untilHealthy(begun, etcd, signal);
  const kubectl = await programs.kubectl;
  if (signal.aborted) return;
  const { kubeconfig } = plane;
  const etcdctl = etcd && etcdctlOf(etcd);
  const found = { ...(kubectl && { kubectl }), ...(etcdctl !== undefined && { etcdctl }) };
  const running = { kubeconfig, nodes, ...found, isWelcoming: true, empty, dialects };
  const hints = hintsOf(running, portsIn(state));
  if (screen === undefined) for (const line of hints) say(line);
  else screen.hints = hints;
  remember(state, running); // last: whoever reads that it welcomes finds all of it said
}

/** Creates the first cluster, and tells what becomes of it; one that is in trouble is not waited for without end. */
async function untilHealthy(begun: Welcome, etcd: EtcdPrograms, signal: AbortSignal): Promise<void> {
  const { options, tools, plane, lab, since } = begun;
  const { client } = plane;
  const { say, screen } = tools;
  const cluster = await createFirstCluster({ client, namespace, etcd, dialects: options.dialects, say });
  const tell = (line: string): void => say(`${secondsSince(since)}  ${line}`);
  const dialects = await definedDialects(client);
  const narrator = new Narrator({ client, dialects, since, tell, onChange: () => screen?.draw() });
  const settled = narrator.settled(cluster);
  void narrator.run(signal);
  const shown = { narrator, lab, since };
  if (screen !== undefined) void showOn(screen, shown, signal);
  const late = sleep(patienceMillis, 'late', { signal }).catch(() => undefined);
  const which = await Promise.race([settled, returned(cluster, shown, signal), late]);
  if (which === 'late') tell(`${cluster.metadata.name} is still not as desired: look at it with the commands below`);
}
