import type { ClusterDialect } from '../../src/apis/common/dialect.ts';
import {
  type Restrictions,
  sharedRestrictions,
  withAccountRestrictions,
  withRestrictions,
} from '../../src/apis/common/restrictions.ts';
import type { Parsed, Problem } from '../../src/apis/common/schema/parsed.ts';
import { backupReconciler } from '../../src/controllers/backup/reconcile.ts';
import { clusterReconciler } from '../../src/controllers/cluster/reconcile.ts';
import { restoreReconciler } from '../../src/controllers/restore/reconcile.ts';
import { scheduleReconciler } from '../../src/controllers/schedule/reconcile.ts';
import { type ClusterObject, clusterIndex, ownerIndex } from '../../src/controllers/shared/context.ts';
import { TerminatingPods } from '../../src/controllers/shared/terminating-pods.ts';
import { writerFor } from '../../src/controllers/shared/writer.ts';
import type { Manifest } from '../../src/core/manifests/manifest.ts';
import { EtcdConnections } from '../../src/etcd/connections.ts';
import { HttpKubeClient } from '../../src/kube/http-client.ts';
import type { KubeObject, Stored } from '../../src/kube/object.ts';
import { namespaced } from '../../src/kube/resource.ts';
import { agentIndexes } from '../../src/operator/wiring/agent-kinds.ts';
import { backupApis } from '../../src/operator/wiring/backup-kinds.ts';
import { restoreKinds } from '../../src/operator/wiring/restore-kinds.ts';
import { allDialects, clustersOf, peersOf } from '../../src/operator/wiring/served.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Expectations } from '../../src/runtime/expectations.ts';
import type { Outcome } from '../../src/runtime/outcome.ts';
import { slim } from '../../src/runtime/slim.ts';
import { byLabel, byOwner, Store } from '../../src/runtime/store.ts';
import type { Reconcile } from '../../src/runtime/worker.ts';
import { Failure } from '../../src/std/failure.ts';
import { type Kind, namesOfKind } from './kinds.ts';
import { type LabAnswer, type LabApi, type LabJson, type LabRequest, namespace, operatorNamespace } from './lab-api.ts';
import { manifestsOf } from './manifests.ts';

/** What users and administrators see of the work on an object. */
export interface Seen {
  readonly events: { readonly type: string; readonly reason: string; readonly message: string }[];
  readonly logs: string[];
  /** Writes of the operator that the API server refused. */
  readonly refusals: string[];
  /** Warnings of the API server about writes of the operator. */
  readonly warnings: string[];
  /** Writes that the API server accepted, with their contents. */
  readonly writes: string[];
}

const nothingSeen = (): Seen => ({ events: [], logs: [], refusals: [], warnings: [], writes: [] });

/** The real controllers of one operator, on the lab's API server. */
export class Operator {
  readonly #api: LabApi;
  readonly #restrictions: Restrictions | undefined;
  readonly #etcd = new EtcdConnections();
  seen = nothingSeen();

  constructor(api: LabApi, isShared: boolean) {
    this.#api = api;
    this.#restrictions = isShared ? sharedRestrictions : undefined;
  }

  /** Runs passes over an object until no step follows. */
  async work(kind: Kind, name: string): Promise<Outcome | undefined> {
    this.seen = nothingSeen();
    let outcome: Outcome | undefined;
    for (let pass = 0; pass < mostPasses; pass++) {
      const reconcile = this.#reconciler(kind);
      if (reconcile === undefined) return undefined;
      outcome = await reconcile(`${namespace}/${name}`, new AbortController().signal);
      if (!hasTakenStep(outcome)) break;
    }
    return outcome;
  }

  /** Runs more passes until one writes nothing. Returns the writes of the last one if none is idle. */
  async writesForEver(kind: Kind, name: string): Promise<readonly string[]> {
    for (let pass = 0; pass < mostPasses; pass++) {
      this.seen = nothingSeen();
      await this.#reconciler(kind)?.(`${namespace}/${name}`, new AbortController().signal);
      if (this.seen.writes.length === 0) break;
    }
    return this.seen.writes;
  }

  /** Reads an object as a pass does, and translates the spec of a cluster into manifests. */
  read(kind: Kind, object: LabJson): Reading {
    if (kind.role === 'cluster') {
      const read = this.#dialect(kind).read(object);
      return read.ok ? { manifests: manifestsOf(read.value.blueprint), problems: [] } : { manifests: [], ...read };
    }
    const read = this.#reader(kind)?.(object) ?? { ok: true };
    return read.ok ? nothing : { manifests: [], ...read };
  }

  #reader({ api, role }: Kind): ((object: LabJson) => Parsed<unknown>) | undefined {
    const { backups, schedules } = backupApis[api];
    const restricted = <D extends { readonly read: (raw: unknown) => Parsed<never> }>(dialect: D): D['read'] =>
      withAccountRestrictions(this.#restrictions, dialect).read;
    if (role === 'backup') return restricted(backups as never);
    if (role === 'restore') return restricted(restoreKinds[api].dialect as never);
    return role === 'schedule' ? schedules?.read : undefined;
  }

  close(): void {
    this.#etcd[Symbol.dispose]();
  }

  #cache<T extends KubeObject>(collection: string, indexes = {}, selector = ''): Store<T> {
    const store = new Store<T>({ indexes, onHandlerFailure: fail });
    const [label, value] = selector.split('=');
    const objects = this.#api.objects(collection) as unknown as readonly Stored<T>[];
    const selected = objects.filter(({ metadata }) => !label || metadata.labels?.[label] === value);
    store.replace(selected.map(slim), '1');
    return store;
  }

  #reconciler(kind: Kind): Reconcile<string> | undefined {
    const makers = {
      cluster: () => clusterReconciler(this.#clusters(kind)),
      backup: () => backupReconciler(this.#backups(kind)),
      restore: () => restoreReconciler(this.#restores(kind)),
      schedule: () => scheduleReconciler(this.#schedules()),
      peer: () => undefined, // EtcdPeers are written by the operator; of others it reads the owner only
    };
    return makers[kind.role]();
  }

  #shared() {
    const { seen } = this;
    const onAnswer = ({ method, path, body: content }: LabRequest, { code, body, warnings }: LabAnswer): void => {
      if (method === 'GET') return;
      if (code >= 400) seen.refusals.push(`${code} ${String(body['message'])}`);
      else seen.writes.push(`${method} ${path} ${content ?? ''}`);
      seen.warnings.push(...warnings);
    };
    const client = new HttpKubeClient(this.#api.connection(onAnswer), { fieldManager: 'etcd-operator' });
    const expectations = new Expectations({ clock: systemClock, onExpired: () => undefined });
    const writing = {
      client,
      expectations,
      agentNamespace: operatorNamespace,
      storeOf: () => undefined,
      onStatus: () => undefined,
    };
    return {
      ...{
        client,
        isOurs: () => true,
        caughtUp: () => true,
        now: () => new Date(),
        image: { name: 'etcd-operator:1' },
      },
      writer: (key: string) => writerFor(key, writing),
      recordEvent: (_: unknown, event: Seen['events'][number]) => void seen.events.push(event),
      log: (level: string, message: string, fields: object) =>
        void seen.logs.push(`${level} ${message} ${JSON.stringify(fields)}`),
      dialerTo: () => async () => {
        throw new Failure('unreachable', 'connection refused');
      },
      operators: { namespace: operatorNamespace, secret: 'operator-store', serviceAccountName: undefined, urls: [] },
      terminating: new TerminatingPods(systemClock),
    };
  }

  #dialect({ api }: Kind): ClusterDialect {
    return withRestrictions(this.#restrictions, allDialects[api]);
  }

  #clusters(kind: Kind) {
    const dialect = this.#dialect(kind);
    const indexes = { [ownerIndex]: byOwner, [clusterIndex]: byLabel(dialect.clusterLabel) };
    const cache = (collection: string) => this.#cache(collection, indexes, dialect.selector);
    const peers = peersOf(dialect);
    const shared = this.#shared();
    return {
      ...{ ...shared, dialect, resource: clustersOf(dialect), etcd: this.#etcd, absentSecrets: new Map() },
      ...{
        mayWriteSecrets: true,
        mayDeleteSecrets: true,
        secondsSinceStatusWrite: () => 99,
        list: shared.client.list.bind(shared.client),
      },
      randomName: (cluster: string) => `${cluster.slice(0, 52)}-${String(++this.#names).padStart(10, 'x')}`,
      caches: {
        clusters: this.#cache<ClusterObject>(`${dialect.group}/etcdclusters`, indexes),
        ...{ pods: cache('/pods'), claims: cache('/persistentvolumeclaims'), services: cache('/services') },
        budgets: cache('policy/poddisruptionbudgets'),
      },
      peers: peers && { resource: peers, store: this.#cache(`${dialect.group}/etcdpeers`, indexes), oldFinalizer: '' },
    };
  }

  #names = 0;

  #agentCaches(kind: Kind) {
    const { group, plural } = namesOfKind(kind);
    const indexes = agentIndexes({ group, namespace: operatorNamespace });
    return {
      declared: this.#cache<ClusterObject>(`${group}/${plural}`, indexes),
      agents: this.#cache('/pods', indexes),
    };
  }

  #backups(kind: Kind) {
    const { declared: backups, agents } = this.#agentCaches(kind);
    const dialect = withAccountRestrictions(this.#restrictions, backupApis[kind.api].backups);
    const clusters = this.#dialect(kind);
    return {
      ...{ ...this.#shared(), dialect, resource: namespaced<ClusterObject>(dialect), caches: { backups, agents } },
      clusters: { dialect: clusters, resource: clustersOf(clusters) },
    };
  }

  #restores(kind: Kind) {
    const { declared: restores, agents } = this.#agentCaches(kind);
    const clusters = this.#dialect(kind);
    const { dialect, resource } = restoreKinds[kind.api];
    return {
      ...{ ...this.#shared(), dialect: withAccountRestrictions(this.#restrictions, dialect), resource },
      ...{ etcd: this.#etcd, mayWriteSecrets: true, otherClusterKinds: [], caches: { restores, agents } },
      randomName: (cluster: string) => `${cluster}-seed`,
      clusters: { dialect: clusters, resource: clustersOf(clusters) },
    };
  }

  #schedules() {
    const { backups, schedules: dialect } = backupApis.improbable;
    if (dialect === undefined) throw new Error('the API has no schedules');
    const indexes = agentIndexes({ group: dialect.group, namespace: operatorNamespace });
    const cache = (plural: string) => this.#cache<ClusterObject>(`${dialect.group}/${plural}`, indexes);
    return {
      ...{ ...this.#shared(), dialect, resource: namespaced<ClusterObject>(dialect), backups: namespaced(backups) },
      caches: { schedules: cache('etcdbackupschedules'), backups: cache('etcdbackups') },
    };
  }
}

interface Reading {
  readonly manifests: readonly Manifest[];
  readonly problems: readonly Problem[];
}

const nothing: Reading = { manifests: [], problems: [] };
const mostPasses = 6;

/** True if the pass took a step, so that another step may follow. */
const hasTakenStep = (outcome: Outcome): boolean =>
  outcome.is === 'requeue' && outcome.waitsFor === undefined && outcome.afterSeconds < 1;

/** True if no step follows the last pass, and the API server has refused nothing. */
export const isSettled = (outcome: Outcome | undefined): boolean =>
  outcome !== undefined && outcome.is !== 'failed' && !hasTakenStep(outcome);

function fail(failure: Failure): never {
  throw failure;
}
