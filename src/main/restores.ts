import { agentLabel } from '../controllers/agents/agent-of-pod.ts';
import { type ClusterObject, ownerIndex, type Tools } from '../controllers/cluster/sources.ts';
import { writerFor } from '../controllers/cluster/writer.ts';
import { restoreReconciler } from '../controllers/restore/reconcile.ts';
import type { RestoreTools } from '../controllers/restore/sources.ts';
import { coreos } from '../dialects/coreos-v1beta2/dialect.ts';
import { coreosRestores } from '../dialects/coreos-v1beta2/restore.ts';
import { EtcdConnections } from '../etcd/connections.ts';
import { type KubeObject, keyOf } from '../kube/object.ts';
import { namespaced, pods, type Resource } from '../kube/resource.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { EventRecorder } from '../runtime/events.ts';
import { Expectations } from '../runtime/expectations.ts';
import { type Runnable, runTogether } from '../runtime/manager.ts';
import { Reflector, whenSynced } from '../runtime/reflector.ts';
import { byOwner } from '../runtime/store.ts';
import { WorkQueue } from '../runtime/work-queue.ts';
import { workers } from '../runtime/worker.ts';
import { restores } from './agent-kinds.ts';
import type { BackupParts } from './backups.ts';
import { randomName } from './random-name.ts';
import { tellOnce } from './tell-once.ts';

const clusters: Resource<ClusterObject> = namespaced(coreos);

export interface RestoreParts extends Omit<BackupParts, 'onCache'> {
  readonly wayTo: Tools['wayTo'];
  readonly keepsSecrets: boolean;
}

/** How many restores are looked after side by side. */
const workerCount = 4;

/** What looks after restores while this replica leads. */
export const restoreController =
  (parts: RestoreParts): Runnable =>
  async (signal) => {
    const { client, scope: namespace, identity, onTrouble, onOutcome } = parts;
    const common = { client, namespace, clock, onTrouble, indexes: { [ownerIndex]: byOwner } };
    const declared = new Reflector<ClusterObject>({ ...common, resource: restores });
    const agents = new Reflector({ ...common, resource: pods, labelSelector: `${agentLabel(coreos.group)}=restore` });
    const recorder = new EventRecorder({ client, clock, component: identity, instance: identity, onTrouble });
    const queue = new WorkQueue<string>(clock);
    using etcd = new EtcdConnections();
    declared.store.onChange(({ object }) => queue.add(keyOf(object.metadata)));
    agents.store.onChange(({ object }) => enqueueOwner(object, queue));
    const tools = toolsOf(parts, { restores: declared.store, agents: agents.store }, { recorder, etcd });
    const working = workers({ queue, reconcile: restoreReconciler(tools), count: workerCount, clock, onOutcome });
    const afterSync: Runnable = async (stop) => {
      if (await whenSynced([declared, agents] as never, stop)) await working(stop);
    };
    await runTogether([(stop) => declared.run(stop), (stop) => agents.run(stop), afterSync], signal);
    await recorder.flush(AbortSignal.timeout(2_000));
  };

function enqueueOwner({ metadata }: KubeObject, queue: WorkQueue<string>): void {
  const owners = (metadata.ownerReferences ?? []).filter(({ kind }) => kind === coreosRestores.kind);
  for (const { name } of owners) queue.add(keyOf({ namespace: metadata.namespace, name }));
}

interface Made {
  readonly recorder: EventRecorder;
  readonly etcd: EtcdConnections;
}

function toolsOf(parts: RestoreParts, caches: RestoreTools['caches'], { recorder, etcd }: Made): RestoreTools {
  const { client, log, isOurs, image, wayTo } = parts;
  const expectations = new Expectations({
    clock,
    onExpired: (key, what) => log.warn({ restore: key, what }, 'a cache is late'),
  });
  // Of pods only those that prove are kept a copy of: what is done to members is looked up live.
  const storeOf = (resource: Resource<KubeObject>) =>
    (resource.plural === coreosRestores.plural ? caches.restores : undefined) as never;
  return {
    dialect: coreosRestores,
    resource: restores,
    clusters: { dialect: coreos, resource: clusters },
    isOurs,
    client,
    writer: (key) => writerFor(key, { client, expectations, storeOf, onStatus: () => undefined }),
    caughtUp: (key) => expectations.caughtUp(key),
    caches,
    image,
    etcd,
    wayTo,
    keepsSecrets: parts.keepsSecrets,
    randomName,
    now: clock.now,
    tell: tellOnce((about, news) => recorder.record(about, news), clock),
    log: (level, message, fields) => log[level](fields, message),
  };
}
