import { hostname } from 'node:os';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Tools } from '../controllers/cluster/sources.ts';
import { coreos } from '../dialects/coreos-v1beta2/dialect.ts';
import type { ClusterDialect, OldLockPlace } from '../dialects/dialect.ts';
import { wideScope } from '../dialects/warnings.ts';
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
import { clusterControllers } from './controllers.ts';
import { serveHealth } from './health.ts';
import { installCrds } from './install-crd.ts';
import { leaveAtOnce } from './leave.ts';
import { type Log, makeLog } from './log.ts';
import { clusterMetrics, passMetrics } from './metrics.ts';
import { placesOf, waitForOldLock } from './old-lock.ts';
import { tellOnOwnPod } from './own-pod.ts';
import { isForTidying, missingRights, nameOfRight, type Right, tellMissing } from './rights.ts';
import { dialectsToServe, type Served } from './served.ts';
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
  const health = serveHealth({ listen: settings.listenAddress, missing: news.missing, undone: news.undone, metrics });
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
  #undone: readonly string[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  readonly missing = (): readonly string[] => (this.#leads ? [] : ['this replica does not lead']);
  readonly undone = (): readonly string[] => this.#undone;

  standsBy(): void {
    this.#leads = true;
  }

  leads(identity: string): void {
    this.#leads = true;
    this.#log.info({ identity }, 'leading');
  }

  lacks(lines: readonly string[]): void {
    this.#undone = lines;
    for (const line of lines) this.#log.warn(line);
  }
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
  const scope = settings.clusterWide ? undefined : namespace;
  const dialects = await dialectsToServe(client, settings, scope);
  const apis = dialects.map(({ dialect }) => dialect);
  for (const { group } of apis) parts.log.info({ group }, 'serving');
  const missing = await missingRights(client, { home: namespace, scope, apis, isOutside: parts.wayTo !== undefined });
  const lines = tellMissing(missing);
  news.lacks(lines);
  if (!settings.groups.includes('clusters')) await standBy(parts);
  const told = lines.map((message) => ({ type: 'Warning', reason: 'MissingRights', message }) as const);
  const { podName, podNamespace } = settings;
  await runTogether(
    [
      () => tellOnOwnPod(told, { client, podName, podNamespace, onTrouble: onTrouble(parts) }),
      ...groupsOf(settings, dialects).map(
        (group): Runnable =>
          (signal) =>
            runs[group]({ ...parts, scope, dialects, ...turnOf(parts, missing) }, signal),
      ),
    ],
    stop,
  );
}

/** An operator of backups or restores alone: whether it leads or waits for its turn, it is ready to. */
async function standBy({ client, settings, log, news }: Parts): Promise<void> {
  if (settings.createCrd) await installCrds('coreos', client, log);
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
const turnOf = (parts: Parts, missing: readonly Right[]) => ({
  lacks: new Set(missing.map((right) => (isForTidying(right) ? nameOfRight(right) : right.resource))),
  identity: identityOf(parts.settings),
  isOurs: (metadata: ObjectMeta): boolean => scopeOf(parts.settings.clusterWide)(metadata, coreos),
  onTrouble: onTrouble(parts),
  onLost: leaveAtOnce,
});

const identityOf = ({ podName }: Settings): string => podName ?? `${hostname()}-${process.pid}`;

interface Turn extends Parts {
  readonly scope: string | undefined;
  /** Of which resources it lacks a right; or the right, where it only tidies up. */
  readonly lacks: ReadonlySet<string>;
  readonly dialects: readonly Served[];
}

const onTrouble =
  ({ log }: Parts) =>
  (failure: Failure): void =>
    log.warn({ failure: failure.message }, 'trouble with the API server');

/** Waits for its turn, and looks after clusters for as long as that lasts. */
async function takeTurn(turn: Turn, stop: AbortSignal): Promise<void> {
  const { client, namespace, settings, log, lacks, dialects } = turn;
  const identity = identityOf(settings);
  const trouble = { onTrouble: onTrouble(turn) };
  const work = async (signal: AbortSignal, leads?: () => boolean): Promise<void> => {
    for (const place of oldLocks(turn))
      await waitForOldLock({ client, namespace, place, clock: systemClock, log }, signal);
    const fenced = whileLeading(client, leads);
    if (settings.createCrd) for (const name of settings.dialects ?? byDefault) await installCrds(name, fenced, log);
    turn.news.leads(identity);
    const controllers = clusterControllers({
      ...{ client, clock: systemClock, scope: turn.scope, identity, log, dialects, wayTo: turn.wayTo, ...trouble },
      ...{ leads, workers: settings.workers },
      withBudgets: !lacks.has('poddisruptionbudgets'),
      keepsSecrets: !lacks.has('secrets'),
      dropsSecrets: !lacks.has('delete secrets'),
      isOurs: scopeOf(settings.clusterWide),
      onOutcome: passMetrics(turn.metrics, log),
      onCaches: (declared) => clusterMetrics(turn.metrics, declared),
    });
    const chaos = makeChaos({ level: settings.chaosLevel, client: fenced, namespace, clock: systemClock, log });
    await runTogether([controllers, chaos], signal);
  };
  if (lacks.has('leases') || settings.lease === undefined) return work(stop);
  const ends = { ...trouble, onLost: leaveAtOnce };
  const lease = { client, namespace, name: settings.lease, identity, clock: systemClock, ...ends };
  return lead(lease, ({ lost, holds }) => work(AbortSignal.any([stop, lost]), holds), stop);
}

/** Kinds of an API that nobody asked for are not defined just because we might. */
const byDefault = ['coreos'] as const;

const oldLocks = ({ lacks, dialects, settings }: Turn): readonly OldLockPlace[] =>
  dialects.flatMap(({ dialect: { oldLock } }) =>
    oldLock === undefined || lacks.has(oldLock.plural) ? [] : placesOf(oldLock, settings.lease),
  );

/**
 * Which clusters are ours: with `--cluster-wide` those that ask for it by an annotation, otherwise those that do not. In an
 * API without such an annotation, all that we see.
 */
const scopeOf =
  (clusterWide: boolean) =>
  ({ annotations = {} }: ObjectMeta, { scopeAnnotation }: ClusterDialect): boolean => {
    if (scopeAnnotation === undefined) return true;
    return clusterWide ? annotations[scopeAnnotation] === wideScope : annotations[scopeAnnotation] === undefined;
  };

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
