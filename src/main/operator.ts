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
import { runTogether } from '../runtime/manager.ts';
import { Failure } from '../std/failure.ts';
import { makeChaos } from './chaos.ts';
import { clusterController } from './controller.ts';
import { serveHealth } from './health.ts';
import { installCrd } from './install-crd.ts';
import { type Log, makeLog } from './log.ts';
import { clusterMetrics, passMetrics } from './metrics.ts';
import { waitForOldLock } from './old-lock.ts';
import { tellOnOwnPod } from './own-pod.ts';
import { missingRights, tellMissing } from './rights.ts';
import type { Settings } from './settings.ts';
import { version } from './version.ts';
import { type WaysOptions, waysToPods } from './ways-to-pods.ts';

/** Puts the operator together and runs it until told to stop. */
export async function runOperator(settings: Settings, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  const log = makeLog(settings.logLevel, settings.logFormat);
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
  const missing = await missingRights(client, { home: namespace, scope, isOutside: parts.wayTo !== undefined });
  const lines = tellMissing(missing);
  news.lacks(lines);
  const told = lines.map((message) => ({ type: 'Warning', reason: 'MissingRights', message }) as const);
  const { podName, podNamespace } = settings;
  await runTogether(
    [
      () => tellOnOwnPod(told, { client, podName, podNamespace, onTrouble: onTrouble(parts) }),
      (signal) => takeTurn({ ...parts, scope, lacks: new Set(missing.map(({ resource }) => resource)) }, signal),
    ],
    stop,
  );
}

interface Turn extends Parts {
  readonly scope: string | undefined;
  /** Of which resources it lacks a right. */
  readonly lacks: ReadonlySet<string>;
}

const onTrouble =
  ({ log }: Parts) =>
  (failure: Failure): void =>
    log.warn({ failure: failure.message }, 'trouble with the API server');

/** Waits for its turn, and looks after clusters for as long as that lasts. */
async function takeTurn(turn: Turn, stop: AbortSignal): Promise<void> {
  const { client, namespace, settings, log, lacks } = turn;
  const identity = settings.podName ?? `${hostname()}-${process.pid}`;
  const trouble = { onTrouble: onTrouble(turn) };
  const work = async (signal: AbortSignal): Promise<void> => {
    if (!lacks.has('endpoints')) await waitForOldLock({ client, namespace, clock: systemClock, log }, signal);
    turn.news.leads(identity);
    if (settings.createCrd) await installCrd(client, log);
    const controller = clusterController({
      ...{ client, scope: turn.scope, identity, log, workers: settings.workers, wayTo: turn.wayTo, ...trouble },
      withBudgets: !lacks.has('poddisruptionbudgets'),
      keepsSecrets: !lacks.has('secrets'),
      isOurs: scopeOf(settings.clusterWide),
      onOutcome: passMetrics(turn.metrics, log),
      onCache: (declared) => clusterMetrics(turn.metrics, declared),
    });
    const chaos = makeChaos({ level: settings.chaosLevel, client, namespace, clock: systemClock, log });
    await runTogether([controller, chaos], signal);
  };
  if (lacks.has('leases')) return work(stop);
  const lease = { client, namespace, name: 'etcd-operator', identity, clock: systemClock, ...trouble };
  return lead(lease, ({ lost }) => work(AbortSignal.any([stop, lost])), stop);
}

/** Which clusters are ours: with `--cluster-wide` those that ask for it by an annotation, otherwise those that do not. */
const scopeOf =
  (clusterWide: boolean) =>
  ({ annotations = {} }: ObjectMeta): boolean =>
    clusterWide ? annotations[scopeAnnotation] === 'clusterwide' : annotations[scopeAnnotation] === undefined;

const scopeAnnotation = `${coreos.group}/scope`;

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
