import { hostname } from 'node:os';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { type Access, fromKubeconfig, inCluster } from '../kube/config.ts';
import { connectTo } from '../kube/connection.ts';
import { HttpKubeClient } from '../kube/http-client.ts';
import { systemClock } from '../runtime/clock.ts';
import { lead } from '../runtime/lease.ts';
import { type Runnable, runTogether } from '../runtime/manager.ts';
import type { Outcome } from '../runtime/outcome.ts';
import { Failure } from '../std/failure.ts';
import { clusterController } from './controller.ts';
import { serveHealth } from './health.ts';
import { type Log, makeLog } from './log.ts';
import type { Settings } from './settings.ts';
import { version } from './version.ts';

/** Puts the operator together and runs it until told to stop. */
export async function runOperator(settings: Settings, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  const log = makeLog(settings.logLevel);
  const access = await accessFor(settings, env);
  const namespace = settings.namespace ?? settings.podNamespace ?? access.namespace ?? 'default';
  const connection = connectTo(access, { userAgent: `etcd-operator/${version}` });
  const client = new HttpKubeClient(connection, { fieldManager: 'etcd-operator' });
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const missing = new Set(['this replica does not lead']);
  const identity = settings.podName ?? `${hostname()}-${process.pid}`;
  const onTrouble = (failure: Failure): void => log.warn({ failure: failure.message }, 'trouble with the API server');

  const scope = settings.clusterWide ? undefined : namespace;
  const onOutcome = passMetrics(metrics, log);
  const work = clusterController({ client, scope, workers: settings.workers, identity, log, onTrouble, onOutcome });
  const leading: Runnable = (stop) =>
    lead(
      { client, namespace, name: 'etcd-operator', identity, clock: systemClock, onTrouble },
      async ({ lost }) => {
        missing.clear();
        log.info({ identity }, 'leading');
        await work(AbortSignal.any([stop, lost]));
      },
      stop,
    );
  try {
    await runTogether(
      [serveHealth({ listen: settings.listenAddress, missing: () => [...missing], metrics }), leading],
      signal,
    );
  } finally {
    await connection.close();
  }
}

async function accessFor({ kubeconfig }: Settings, env: NodeJS.ProcessEnv): Promise<Access> {
  const access = kubeconfig === undefined ? await inCluster(env) : await fromKubeconfig(kubeconfig);
  if (access !== undefined) return access;
  throw new Failure('rejected', 'not inside a cluster: say how to reach one with --kubeconfig');
}

function passMetrics(register: Registry, log: Log): (key: string, outcome: Outcome, seconds: number) => void {
  const took = new Histogram({
    name: 'etcd_operator_cluster_reconcile_duration',
    help: 'How long passes took, in seconds.',
    buckets: Array.from({ length: 10 }, (_, n) => 0.1 * 2 ** n),
    registers: [register],
  });
  const failures = new Counter({
    name: 'etcd_operator_cluster_reconcile_failed',
    help: 'Passes that failed, by the kind of failure.',
    labelNames: ['Reason'],
    registers: [register],
  });
  return (key, outcome, seconds) => {
    took.observe(seconds);
    if (outcome.is !== 'failed') return;
    failures.inc({ Reason: outcome.failure.kind });
    log.warn({ cluster: key, kind: outcome.failure.kind, failure: outcome.failure.message }, 'a pass failed');
  };
}
