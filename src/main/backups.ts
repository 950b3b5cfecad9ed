import { agentLabel } from '../controllers/agents/agent-of-pod.ts';
import { backupReconciler } from '../controllers/backup/reconcile.ts';
import type { BackupTools } from '../controllers/backup/sources.ts';
import { type ClusterObject, ownerIndex } from '../controllers/cluster/sources.ts';
import { writerFor } from '../controllers/cluster/writer.ts';
import type { AgentImage } from '../core/desired/agent-pod.ts';
import { coreosBackups } from '../dialects/coreos-v1beta2/backup.ts';
import { coreos } from '../dialects/coreos-v1beta2/dialect.ts';
import type { KubeClient } from '../kube/client.ts';
import { type KubeObject, keyOf, type ObjectMeta } from '../kube/object.ts';
import { namespaced, pods, type Resource } from '../kube/resource.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { EventRecorder } from '../runtime/events.ts';
import { Expectations } from '../runtime/expectations.ts';
import { type Runnable, runTogether } from '../runtime/manager.ts';
import type { Outcome } from '../runtime/outcome.ts';
import { Reflector, whenSynced } from '../runtime/reflector.ts';
import { byOwner, type Store } from '../runtime/store.ts';
import { WorkQueue } from '../runtime/work-queue.ts';
import { workers } from '../runtime/worker.ts';
import type { Failure } from '../std/failure.ts';
import { backups } from './agent-kinds.ts';
import type { Log } from './log.ts';
import { tellOnce } from './tell-once.ts';

const clusters: Resource<ClusterObject> = namespaced(coreos);

export interface BackupParts {
  readonly client: KubeClient;
  /** The one namespace to look after; without it, all. */
  readonly scope: string | undefined;
  readonly isOurs: (metadata: ObjectMeta) => boolean;
  readonly identity: string;
  readonly image: AgentImage | string;
  readonly log: Log;
  readonly onTrouble: (failure: Failure) => void;
  readonly onCache: (declared: Store<ClusterObject>) => void;
  readonly onOutcome: (key: string, outcome: Outcome, seconds: number) => void;
}

/** How many backups are looked after side by side; all they do here is to wait for others. */
const workerCount = 4;

/** What looks after backups while this replica leads. */
export const backupController =
  (parts: BackupParts): Runnable =>
  async (signal) => {
    const { client, scope: namespace, identity, onTrouble, onOutcome } = parts;
    const common = { client, namespace, clock, onTrouble, indexes: { [ownerIndex]: byOwner } };
    const declared = new Reflector<ClusterObject>({ ...common, resource: backups });
    const agents = new Reflector({ ...common, resource: pods, labelSelector: `${agentLabel(coreos.group)}=backup` });
    const recorder = new EventRecorder({ client, clock, component: identity, instance: identity, onTrouble });
    const queue = new WorkQueue<string>(clock);
    declared.store.onChange(({ object }) => queue.add(keyOf(object.metadata)));
    agents.store.onChange(({ object }) => enqueueOwner(object, queue));
    parts.onCache(declared.store);
    const tools = toolsOf(parts, { backups: declared.store, agents: agents.store }, recorder);
    const working = workers({ queue, reconcile: backupReconciler(tools), count: workerCount, clock, onOutcome });
    const afterSync: Runnable = async (stop) => {
      if (await whenSynced([declared, agents] as never, stop)) await working(stop);
    };
    await runTogether([(stop) => declared.run(stop), (stop) => agents.run(stop), afterSync], signal);
    await recorder.flush(AbortSignal.timeout(2_000));
  };

function enqueueOwner({ metadata }: KubeObject, queue: WorkQueue<string>): void {
  const owners = (metadata.ownerReferences ?? []).filter(({ kind }) => kind === coreosBackups.kind);
  for (const { name } of owners) queue.add(keyOf({ namespace: metadata.namespace, name }));
}

function toolsOf(parts: BackupParts, caches: BackupTools['caches'], recorder: EventRecorder): BackupTools {
  const { client, log, isOurs, image } = parts;
  const expectations = new Expectations({
    clock,
    onExpired: (key, what) => log.warn({ backup: key, what }, 'a cache is late'),
  });
  const stores: Readonly<Record<string, unknown>> = { etcdbackups: caches.backups, pods: caches.agents };
  const storeOf = (resource: Resource<KubeObject>) => stores[resource.plural] as never;
  return {
    dialect: coreosBackups,
    resource: backups,
    clusters: { dialect: coreos, resource: clusters },
    isOurs,
    client,
    writer: (key) => writerFor(key, { client, expectations, storeOf, onStatus: () => undefined }),
    caughtUp: (key) => expectations.caughtUp(key),
    caches,
    image,
    now: clock.now,
    tell: tellOnce((about, news) => recorder.record(about, news), clock),
    log: (level, message, fields) => log[level](fields, message),
  };
}
