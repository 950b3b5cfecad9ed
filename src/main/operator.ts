import { hostname } from 'node:os';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Tools } from '../controllers/cluster/sources.ts';
import { coreos } from '../dialects/coreos-v1beta2/dialect.ts';
import type { KubeClient } from '../kube/client.ts';
import { type Access, fromKubeconfig, inCluster } from '../kube/config.ts';
import { connectTo } from '../kube/connection.ts';
import { HttpKubeClient } from '../kube/http-client.ts';
import type { ObjectMeta } from '../kube/object.ts';
import { forwardedSocket } from '../kube/port-forward.ts';
import { systemClock } from '../runtime/clock.ts';
import { lead } from '../runtime/lease.ts';
import { type Runnable, runTogether } from '../runtime/manager.ts';
import { whileLeading } from '../runtime/while-leading.ts';
import { Failure } from '../std/failure.ts';
import { lookAfterBackups, lookAfterRestores } from './backup-turn.ts';
import { makeChaos } from './chaos.ts';
import { type Parts as ClusterParts, clusterControllers } from './controllers.ts';
import { serveHealth } from './health.ts';
import { installCrds } from './install-crd.ts';
import { leaveAtOnce } from './leave.ts';
import { type Log, makeLog } from './log.ts';
import { clusterMetrics, passMetrics } from './metrics.ts';
import { tokenIn } from './metrics-access.ts';
import { outlastOldLocks } from './old-lock.ts';
import { tellOnOwnPod } from './own-pod.ts';
import { type Place, type Survey, survey, whenServed } from './places.ts';
import { describeReach, isServedBy } from './reach.ts';
import type { Served } from './served.ts';
import type { Settings } from './settings.ts';
import { version } from './version.ts';
import { type WaysOptions, waysToPods } from './ways-to-pods.ts';

/** Puts the operator together and runs it until told to stop. */
export async function runOperator(settings: Settings, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  const log = makeLog(settings.logLevel, settings.logFormat);
  for (const what of settings.ignored) log.info({ what }, 'accepted, and without effect');
  const access = await accessFor(settings, env);
  const namespace = settings.namespace ?? settings.podNamespace ?? access.namespace ?? 'default';
  const connection = connectTo(access, { userAgent: `etcd-operator/${version}` });
  const client = new HttpKubeClient(connection, { fieldManager: 'etcd-operator' });
  const wayTo = waysFor(settings, access, log);
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const news = new News(log);
  const { listenAddress: listen, metrics: metricsAccess } = settings;
  if (metricsAccess.tokenFile !== undefined) await tokenIn(metricsAccess.tokenFile);
  const health = serveHealth({ listen, missing: news.missing, details: news.details, metrics, metricsAccess });
  try {
    await runTogether(
      [health, (stop) => lookAfterClusters({ client, namespace, settings, log, metrics, news, wayTo }, stop)],
      signal,
    );
  } finally {
    await connection.close();
  }
}

/** What the operator has to say about itself. */
class News {
  readonly #log: Log;
  #leads = false;
  #watching: readonly string[] = [];
  readonly #undone = new Map<string, readonly string[]>();

  constructor(log: Log) {
    this.#log = log;
  }

  readonly missing = (): readonly string[] => (this.#leads ? [] : ['this replica does not lead']);
  readonly details = (): readonly string[] => [...this.#watching, ...this.undone()];
  readonly undone = (): readonly string[] => [...this.#undone.values()].flat();

  standsBy(): void {
    this.#leads = true;
  }

  leads(identity: string): void {
    this.#leads = true;
    this.#log.info({ identity }, 'leading');
  }

  watches(line: string): void {
    this.#watching = [line];
    this.#log.info(line);
  }

  readonly lacks = (where: string, lines: readonly string[]): void => {
    const known = this.#undone.get(where) ?? [];
    this.#undone.set(where, lines);
    for (const line of lines) if (!known.includes(line)) this.#log.warn(line);
  };
}

interface Parts {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly settings: Settings;
  readonly log: Log;
  readonly metrics: Registry;
  readonly news: News;
  readonly wayTo: Tools['wayTo'];
}

/** Finds out what it may not do, says so, and does the rest. */
async function lookAfterClusters(parts: Parts, stop: AbortSignal): Promise<void> {
  const { client, namespace, settings, news } = parts;
  const asking = { client, settings, home: namespace, clock: systemClock, onMissing: news.lacks };
  const found = await survey({ ...asking, isOutside: parts.wayTo !== undefined });
  const { dialects } = found;
  const apis = dialects.map(({ dialect }) => dialect);
  for (const { group } of apis) parts.log.info({ group }, 'serving');
  news.watches(describeReach(settings, namespace, apis));
  if (!settings.groups.includes('clusters')) await standBy(parts, stop);
  const told = news.undone().map((message) => ({ type: 'Warning', reason: 'MissingRights', message }) as const);
  const { podName, podNamespace } = settings;
  await runTogether(
    [
      () => tellOnOwnPod(told, { client, podName, podNamespace, onTrouble: onTrouble(parts) }),
      ...groupsOf(settings, dialects).map(
        (group): Runnable =>
          (signal) =>
            runs[group]({ ...parts, ...found, ...turnOf(parts) }, signal),
      ),
    ],
    stop,
  );
}

/** An operator of backups or restores alone: whether it leads or waits for its turn, it is ready to. */
async function standBy({ client, settings, log, news }: Parts, stop: AbortSignal): Promise<void> {
  if (settings.createCrd) await installCrds('coreos', { client, log, clock: systemClock }, stop);
  news.standsBy();
}

/** Where no API has backups, or restores, there is nothing to do for them. */
function groupsOf({ groups }: Settings, dialects: readonly Served[]): Settings['groups'] {
  const has = {
    clusters: true,
    backups: dialects.some(({ dialect }) => dialect.hasBackups),
    restores: dialects.some(({ dialect }) => dialect.hasRestores),
  };
  return groups.filter((group) => has[group]);
}

const runs = { clusters: takeTurn, backups: lookAfterBackups, restores: lookAfterRestores } as const;

/** What every group of controllers takes its turn with. */
const turnOf = (parts: Parts) => ({
  identity: identityOf(parts.settings),
  isOurs: (metadata: ObjectMeta): boolean => isServedBy(parts.settings)(metadata, coreos),
  onTrouble: onTrouble(parts),
  onLost: leaveAtOnce,
});

const identityOf = ({ podName }: Settings): string => podName ?? `${hostname()}-${process.pid}`;

interface Turn extends Parts, Survey {}

const onTrouble =
  ({ log }: Parts) =>
  (failure: Failure): void =>
    log.warn({ failure: failure.message }, 'trouble with the API server');

/** Waits for its turn, and looks after clusters for as long as that lasts. */
async function takeTurn(turn: Turn, stop: AbortSignal): Promise<void> {
  const { client, namespace, settings, log, lacks } = turn;
  const identity = identityOf(settings);
  const work = async (signal: AbortSignal, leads?: () => boolean): Promise<void> => {
    await outlast(turn, { namespace, lacks, dialects: turn.dialects }, signal);
    const installing = { client: whileLeading(client, leads), log, clock: systemClock };
    if (settings.createCrd)
      for (const name of settings.dialects ?? byDefault) await installCrds(name, installing, signal);
    if (signal.aborted) return;
    turn.news.leads(identity);
    const counting = { onOutcome: passMetrics(turn.metrics, log), onCaches: clusterMetrics(turn.metrics) };
    const inPlaces = turn.places.map(
      (place): Runnable =>
        (ends) =>
          workIn(place, { turn, leads, ...counting }, ends),
    );
    await runTogether(inPlaces, signal);
  };
  if (lacks.has('leases') || settings.lease === undefined) return work(stop);
  const ends = { onTrouble: onTrouble(turn), onLost: leaveAtOnce };
  const lease = { client, namespace, name: settings.lease, identity, clock: systemClock, ...ends };
  return lead(lease, ({ lost, holds }) => work(AbortSignal.any([stop, lost]), holds), stop);
}

interface Working extends Pick<ClusterParts, 'leads' | 'onOutcome' | 'onCaches'> {
  readonly turn: Turn;
}

/** Looks after the clusters of one namespace, or of all. */
async function workIn(place: Place, { turn, ...working }: Working, signal: AbortSignal): Promise<void> {
  const { client, settings, log, wayTo } = turn;
  const granted = await whenServed(place, signal);
  if (granted === undefined) return;
  const { namespace, lacks, dialects } = granted;
  if (granted !== place) log.info(`the rights in namespace ${namespace} are granted: serving it`);
  if (namespace !== turn.namespace) await outlast(turn, granted, signal);
  const controllers = clusterControllers({
    ...{ client, clock: systemClock, scope: namespace, log, dialects, wayTo, onTrouble: onTrouble(turn) },
    ...{ ...working, workers: settings.workers, identity: identityOf(settings), isOurs: isServedBy(settings) },
    withBudgets: !lacks.has('poddisruptionbudgets'),
    keepsSecrets: !lacks.has('secrets'),
    dropsSecrets: !lacks.has('delete secrets'),
  });
  const victims = { client: whileLeading(client, working.leads), namespace: namespace ?? turn.namespace };
  const chaos = makeChaos({ level: settings.chaosLevel, ...victims, clock: systemClock, log });
  await runTogether([controllers, chaos], signal);
}

/** Waits for original operators of clusters that have their lock in this namespace. */
const outlast = ({ client, settings, log }: Parts, place: Place, signal: AbortSignal): Promise<void> => {
  const locks = place.dialects.map(({ dialect }) => dialect.oldLock);
  return outlastOldLocks({ ...place, locks }, { client, clock: systemClock, log, lease: settings.lease }, signal);
};

/** Only kinds of the APIs in `--dialects` are defined. */
const byDefault = ['coreos'] as const;

/** Inside the cluster pods are dialled; outside it, that is tried. */
function waysFor({ kubeconfig, reachPods }: Settings, access: Access, log: Log): Tools['wayTo'] {
  const isInside = kubeconfig === undefined;
  if (reachPods === 'direct' || (reachPods === 'auto' && isInside)) return undefined;
  const onForwards = (): void => log.info("pods' addresses lead nowhere from here: etcd is reached by port-forwards");
  const forward: WaysOptions['forward'] = (target, signal) => forwardedSocket(access, target, signal);
  return waysToPods({ forward, straight: reachPods === 'auto', onForwards });
}

async function accessFor({ kubeconfig }: Settings, env: NodeJS.ProcessEnv): Promise<Access> {
  const access = kubeconfig === undefined ? await inCluster(env) : await fromKubeconfig(kubeconfig);
  if (access !== undefined) return access;
  throw new Failure('rejected', 'not inside a cluster: say how to reach one with --kubeconfig');
}
