import { hostname } from 'node:os';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { coreos } from '../apis/coreos-v1beta2/dialect.ts';
import { RollTurns } from '../controllers/cluster/roll-turns.ts';
import type { ControllerContext } from '../controllers/shared/context.ts';
import type { KubeClient } from '../kube/client.ts';
import { type Access, fromKubeconfig, inCluster } from '../kube/config.ts';
import { connectTo } from '../kube/connection.ts';
import { HttpKubeClient } from '../kube/http-client.ts';
import type { ObjectMeta } from '../kube/object.ts';
import { forwardedSocket } from '../kube/port-forward.ts';
import { systemClock } from '../runtime/clock.ts';
import { fencedKubeClient } from '../runtime/fenced-kube-client.ts';
import { lead } from '../runtime/lease.ts';
import { type Runnable, runTogether } from '../runtime/manager.ts';
import { Failure } from '../std/failure.ts';
import { makeChaos } from './chaos.ts';
import { exitOnLostLease } from './exit-on-lost-lease.ts';
import { installCrds } from './install-crd.ts';
import { waitForLegacyLocks } from './legacy-lock.ts';
import { tokenIn } from './metrics-access.ts';
import { recordOnOwnPod } from './own-pod.ts';
import { type Place, type Survey, survey, waitUntilServed } from './places.ts';
import { type RouteOptions, routesToPods } from './pod-routes.ts';
import { describeReach, isServedBy } from './reach.ts';
import type { Settings } from './settings.ts';
import { serveHealth } from './telemetry/health.ts';
import { type Log, makeLog } from './telemetry/log.ts';
import { clusterMetrics, passMetrics } from './telemetry/metrics.ts';
import { operatorVersion } from './version.ts';
import { runBackupControllers, runRestoreControllers } from './wiring/backup-groups.ts';
import { clusterControllers, type ServedClusterParts } from './wiring/cluster-controllers.ts';
import type { Served } from './wiring/served.ts';

/** Assembles the operator and runs it until `signal` aborts. */
export async function runOperator(settings: Settings, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  const log = makeLog(settings.logLevel, settings.logFormat);
  for (const setting of settings.ignored) log.info({ setting }, 'ignoring setting without effect');
  const access = await accessFor(settings, env);
  const namespace = settings.namespace ?? settings.podNamespace ?? access.namespace ?? 'default';
  const connection = connectTo(access, { userAgent: `etcd-operator/${operatorVersion}` });
  const client = new HttpKubeClient(connection, { fieldManager: 'etcd-operator' });
  const dialerTo = routesFor(settings, access, log);
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const state = new OperatorState(log);
  const { listenAddress: listen, metrics: metricsAccess } = settings;
  if (metricsAccess.tokenFile !== undefined) await tokenIn(metricsAccess.tokenFile);
  const health = serveHealth({ listen, missing: state.missing, details: state.details, metrics, metricsAccess });
  try {
    await runTogether(
      [health, (stop) => runControllers({ client, namespace, settings, log, metrics, state, dialerTo }, stop)],
      signal,
    );
  } finally {
    await connection.close();
  }
}

/** The state of the operator, for /readyz and the log. */
class OperatorState {
  readonly #log: Log;
  #isReady = false;
  #watching: readonly string[] = [];
  readonly #missingRights = new Map<string, readonly string[]>();

  constructor(log: Log) {
    this.#log = log;
  }

  readonly missing = (): readonly string[] => (this.#isReady ? [] : ['this replica is not the leader']);
  readonly details = (): readonly string[] => [...this.#watching, ...this.missingRights()];
  readonly missingRights = (): readonly string[] => [...this.#missingRights.values()].flat();

  setReady(): void {
    this.#isReady = true;
  }

  setLeading(identity: string): void {
    this.#isReady = true;
    this.#log.info({ identity }, 'leading');
  }

  setWatching(line: string): void {
    this.#watching = [line];
    this.#log.info(line);
  }

  readonly setMissingRights = (where: string, lines: readonly string[]): void => {
    const known = this.#missingRights.get(where) ?? [];
    this.#missingRights.set(where, lines);
    for (const line of lines) if (!known.includes(line)) this.#log.warn(line);
  };
}

interface Parts {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly settings: Settings;
  readonly log: Log;
  readonly metrics: Registry;
  readonly state: OperatorState;
  readonly dialerTo: ControllerContext['dialerTo'];
}

/** Checks the operator's rights, reports missing ones, and runs the controllers. */
async function runControllers(parts: Parts, stop: AbortSignal): Promise<void> {
  const { client, namespace, settings, state } = parts;
  const context = { client, settings, home: namespace, clock: systemClock, onMissing: state.setMissingRights };
  const found = await survey({ ...context, isOutside: parts.dialerTo !== undefined });
  const { dialects } = found;
  const apis = dialects.map(({ dialect }) => dialect);
  for (const { group } of apis) parts.log.info({ group }, 'serving API');
  state.setWatching(describeReach(settings, namespace, apis));
  if (!settings.groups.includes('clusters')) await prepareStandby(parts, stop);
  const events = state
    .missingRights()
    .map((message) => ({ type: 'Warning', reason: 'MissingRights', message }) as const);
  const { podName, podNamespace } = settings;
  await runTogether(
    [
      () => recordOnOwnPod(events, { client, podName, podNamespace, onFailure: onFailure(parts) }),
      ...groupsOf(settings, dialects).map(
        (group): Runnable =>
          (signal) =>
            runs[group]({ ...parts, ...found, ...leadershipOf(parts) }, signal),
      ),
    ],
    stop,
  );
}

/** An operator for backups or restores only is ready even while another replica leads. */
async function prepareStandby({ client, settings, log, state }: Parts, stop: AbortSignal): Promise<void> {
  if (settings.createCrd) await installCrds('coreos', { client, log, clock: systemClock }, stop);
  state.setReady();
}

/** The controller groups to run: only those that a served API has resources for. */
function groupsOf({ groups }: Settings, dialects: readonly Served[]): Settings['groups'] {
  const has = {
    clusters: true,
    backups: dialects.some(({ dialect }) => dialect.hasBackups),
    restores: dialects.some(({ dialect }) => dialect.hasRestores),
  };
  return groups.filter((group) => has[group]);
}

const runs = {
  clusters: runClusterControllers,
  backups: runBackupControllers,
  restores: runRestoreControllers,
} as const;

/** The options that all groups of controllers share. */
const leadershipOf = (parts: Parts) => ({
  identity: identityOf(parts.settings),
  isOurs: (metadata: ObjectMeta): boolean => isServedBy(parts.settings)(metadata, coreos),
  onFailure: onFailure(parts),
  onLost: exitOnLostLease,
});

const identityOf = ({ podName }: Settings): string => podName ?? `${hostname()}-${process.pid}`;

interface ClusterGroupContext extends Parts, Survey {}

const onFailure =
  ({ log }: Parts) =>
  (failure: Failure): void =>
    log.warn({ failure: failure.message }, 'API server request failed');

/** Waits for the lease, and runs the cluster controllers while this replica leads. */
async function runClusterControllers(context: ClusterGroupContext, stop: AbortSignal): Promise<void> {
  const { client, namespace, settings, log, lacks } = context;
  const identity = identityOf(settings);
  const work = async (signal: AbortSignal, leads?: () => boolean): Promise<void> => {
    await waitForOriginals(context, { namespace, lacks, dialects: context.dialects }, signal);
    const installContext = { client: fencedKubeClient(client, leads), log, clock: systemClock };
    if (settings.createCrd)
      for (const name of settings.dialects ?? defaultApis) await installCrds(name, installContext, signal);
    if (signal.aborted) return;
    context.state.setLeading(identity);
    const rollTurns = new RollTurns(settings.maxRolls, systemClock);
    const metrics = {
      rollTurns,
      onOutcome: passMetrics(context.metrics, log),
      onCaches: clusterMetrics(context.metrics),
    };
    const inPlaces = context.places.map(
      (place): Runnable =>
        (ends) =>
          runInPlace(place, { context, leads, ...metrics }, ends),
    );
    await runTogether(inPlaces, signal);
  };
  if (lacks.has('leases') || settings.lease === undefined) return work(stop);
  const ends = { onFailure: onFailure(context), onLost: exitOnLostLease };
  const lease = { client, namespace, name: settings.lease, identity, clock: systemClock, ...ends };
  return lead(lease, ({ lost, holds }) => work(AbortSignal.any([stop, lost]), holds), stop);
}

interface PlaceOptions extends Pick<ServedClusterParts, 'leads' | 'rollTurns' | 'onOutcome' | 'onCaches'> {
  readonly context: ClusterGroupContext;
}

/** Runs the cluster controllers for one namespace, or for all. */
async function runInPlace(place: Place, { context, ...options }: PlaceOptions, signal: AbortSignal): Promise<void> {
  const { client, settings, log, dialerTo } = context;
  const granted = await waitUntilServed(place, signal);
  if (granted === undefined) return;
  const { namespace, lacks, dialects } = granted;
  if (granted !== place) log.info(`permissions in namespace ${namespace} granted: serving it`);
  if (namespace !== context.namespace) await waitForOriginals(context, granted, signal);
  const controllers = clusterControllers({
    client,
    clock: systemClock,
    scope: namespace,
    log,
    dialects,
    dialerTo,
    onFailure: onFailure(context),
    ...options,
    workers: settings.workers,
    identity: identityOf(settings),
    isOurs: isServedBy(settings),
    withBudgets: !lacks.has('poddisruptionbudgets'),
    mayWriteSecrets: !lacks.has('secrets'),
    mayDeleteSecrets: !lacks.has('delete secrets'),
  });
  const target = { client: fencedKubeClient(client, options.leads), namespace: namespace ?? context.namespace };
  const chaos = makeChaos({ level: settings.chaosLevel, ...target, clock: systemClock, log });
  await runTogether([controllers, chaos], signal);
}

/** Waits until no original operator holds its lock in this namespace. */
const waitForOriginals = ({ client, settings, log }: Parts, place: Place, signal: AbortSignal): Promise<void> => {
  const locks = place.dialects.map(({ dialect }) => dialect.legacyLock);
  return waitForLegacyLocks({ ...place, locks }, { client, clock: systemClock, log, lease: settings.lease }, signal);
};

/** The APIs with CRDs to create, without `--dialects`. */
const defaultApis = ['coreos'] as const;

/** Inside the cluster pods are dialled directly. Outside it, pod addresses are tried before port-forwards. */
function routesFor({ kubeconfig, reachPods }: Settings, access: Access, log: Log): ControllerContext['dialerTo'] {
  const isInside = kubeconfig === undefined;
  if (reachPods === 'direct' || (reachPods === 'auto' && isInside)) return undefined;
  const onForwards = (): void => log.info('pod addresses are not reachable from here: using port-forwards');
  const forward: RouteOptions['forward'] = (target, signal) => forwardedSocket(access, target, signal);
  return routesToPods({ forward, direct: reachPods === 'auto', onForwards });
}

async function accessFor({ kubeconfig }: Settings, env: NodeJS.ProcessEnv): Promise<Access> {
  const access = kubeconfig === undefined ? await inCluster(env) : await fromKubeconfig(kubeconfig);
  if (access !== undefined) return access;
  throw new Failure('rejected', 'not running inside a cluster: set --kubeconfig');
}
