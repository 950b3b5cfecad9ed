import { SecretCache } from '../../controllers/cluster/tls/secret-cache.ts';
import {
  agentNamespaceIndex,
  byResourceKey,
  byResourceUid,
  type OperatorNamespace,
} from '../../controllers/shared/agent-namespace.ts';
import { agentLabel } from '../../controllers/shared/agent-pods.ts';
import { type ClusterObject, type ControllerContext, ownerIndex } from '../../controllers/shared/context.ts';
import type { AgentImage } from '../../core/manifests/agent-pod.ts';
import type { KubeClient } from '../../kube/client.ts';
import { type KubeObject, keyOf, type ObjectMeta, type Pod, parseKey } from '../../kube/object.ts';
import { pods, type Resource } from '../../kube/resource.ts';
import { systemClock as clock } from '../../runtime/clock.ts';
import { Controller } from '../../runtime/controller.ts';
import type { Runnable } from '../../runtime/manager.ts';
import type { Memories } from '../../runtime/memories.ts';
import type { Outcome } from '../../runtime/outcome.ts';
import { Reflector, type ReflectorOptions } from '../../runtime/reflector.ts';
import { reflectorOfNamespaces } from '../../runtime/reflector-of-namespaces.ts';
import type { Store } from '../../runtime/store.ts';
import type { Reconcile } from '../../runtime/worker.ts';
import type { Failure } from '../../std/failure.ts';
import { type Log, watchRestarts } from '../telemetry/log.ts';
import { type CommonContext, commonContext } from './common-context.ts';

export interface AgentParts {
  readonly client: KubeClient;
  /** The namespace of the operator. */
  readonly namespace: string;
  /** The namespace to serve; undefined for all. */
  readonly scope: string | undefined;
  readonly isOurs: (metadata: ObjectMeta) => boolean;
  readonly leads: ControllerContext['leads'];
  readonly identity: string;
  readonly image: AgentImage | string;
  readonly log: Log;
  readonly onFailure: (failure: Failure) => void;
  readonly onOutcome: (key: string, outcome: Outcome, seconds: number) => void;
  /** Called with a function that counts the entries kept in memory. */
  readonly onMemories?: ((remembered: () => Readonly<Record<string, number>>) => void) | undefined;
}

/** The caches of a kind: its objects and their agent pods. */
export interface AgentCaches {
  readonly declared: Store<ClusterObject>;
  readonly agents: Store<Pod>;
}

/** The context of all controllers with agents. */
export interface SharedContext extends CommonContext, Pick<AgentParts, 'isOurs' | 'image'> {
  /** State that a controller keeps between passes. */
  readonly memories: Memories;
}

/** A kind with agent pods. */
export interface AgentKind {
  readonly resource: Resource<ClusterObject>;
  /** The label value of its agents; or, for schedules, the kind of resource that is created instead of pods. */
  readonly purpose: string | Resource<ClusterObject>;
  /** The reporting component of its Events; by default the operator's pod. */
  readonly eventSource?: string | undefined;
  readonly reconciler: (context: SharedContext, caches: AgentCaches) => Reconcile<string>;
  /** True if agents may run in the operator's namespace, with the operator's credentials. */
  readonly worksAtHome?: boolean;
  /** The writes that a pass waits for in the cache: those of agents, or none if agents are read live. */
  readonly expects: 'agents' | 'nothing';
}

/** The indexes of agents in the cache. */
export const agentIndexes = (home: OperatorNamespace) => ({
  [ownerIndex]: byResourceUid(home),
  [agentNamespaceIndex]: byResourceKey(home),
});

/** The number of objects that are reconciled in parallel. */
const workerCount = 4;

/** The controller of a kind with agents, for the time this replica leads. */
export const agentController =
  (parts: AgentParts, kind: AgentKind): Runnable =>
  async (signal) => {
    const { scope: namespace, onFailure, log } = parts;
    const { resource, eventSource } = kind;
    const onExpired = (key: string, what: string): void =>
      log.warn({ [resource.plural]: key, what }, 'cache did not catch up in time');
    const controller = new Controller({ ...parts, clock, eventSource, workers: workerCount, onExpired });
    const { client } = controller;
    const home = { group: resource.group, namespace: parts.namespace };
    const onRestart = watchRestarts(log);
    const common = { client, namespace, clock, onFailure, onRestart, indexes: agentIndexes(home) };
    const declared = new Reflector<ClusterObject>({ ...common, resource });
    const agents = reflectorOfAgents(parts, kind, common);
    const caches = { declared: declared.store, agents: agents.store };
    enqueueChanges(caches, { controller, kind: resource.kind, home, scope: namespace });
    const reconcile = kind.reconciler(contextOf(parts, { controller, kind, caches }), caches);
    parts.onMemories?.(controller.remembered);
    const isOver = (key: string): boolean => declared.store.get(key) === undefined;
    await controller.run({ caches: [declared, agents], reconcile, isOver }, signal);
  };

/** The objects that do the work of a kind: agent pods, or EtcdBackups of a schedule. */
function workersOf({ resource: { group }, purpose }: AgentKind): {
  readonly resource: Resource<Pod>;
  readonly labelSelector?: string;
} {
  if (typeof purpose === 'string') return { resource: pods, labelSelector: `${agentLabel(group)}=${purpose}` };
  return { resource: purpose as Resource<never> };
}

type Common = Omit<ReflectorOptions<Pod>, 'resource' | 'labelSelector'>;

/**
 * Agents run in the namespace of their resource. Agents with the operator's credentials run in the operator's
 * namespace.
 */
function reflectorOfAgents({ scope, namespace: home }: AgentParts, kind: AgentKind, common: Common) {
  const options = { ...common, ...workersOf(kind) };
  return scope === undefined || scope === home || kind.worksAtHome !== true
    ? new Reflector<Pod>(options)
    : reflectorOfNamespaces<Pod>([scope, home], options);
}

const ownersOf = ({ metadata }: KubeObject, kind: string): readonly string[] =>
  (metadata.ownerReferences ?? [])
    .filter((owner) => owner.kind === kind)
    .map(({ name }) => keyOf({ namespace: metadata.namespace, name }));

interface EnqueueOptions {
  readonly controller: Controller;
  readonly kind: string;
  readonly home: OperatorNamespace;
  readonly scope: string | undefined;
}

/** Enqueues an object when the object or one of its agents changes. */
function enqueueChanges({ declared, agents }: AgentCaches, { controller, kind, home, scope }: EnqueueOptions): void {
  controller.enqueueChangesOf(declared);
  agents.onChange(({ object }) => {
    for (const key of [...ownersOf(object, kind), ...byResourceKey(home)(object)])
      if (isWithin(scope, key)) controller.queue.wake(key);
  });
}

/**
 * True if a key is in the served namespace. The operator's namespace has agents of other namespaces too: their
 * resources are not in this cache, and the controller would take them for deleted and remove their agents.
 */
const isWithin = (scope: string | undefined, key: string): boolean =>
  scope === undefined || parseKey(key).namespace === scope;

interface ContextParts {
  readonly controller: Controller;
  readonly kind: AgentKind;
  readonly caches: AgentCaches;
}

function contextOf(parts: AgentParts, { controller, kind, caches }: ContextParts): SharedContext {
  const { log, isOurs, image, namespace: agentNamespace } = parts;
  const { memories } = controller;
  const stores: Readonly<Record<string, unknown>> = {
    [kind.resource.plural]: caches.declared,
    ...(kind.expects === 'agents' ? { [workersOf(kind).resource.plural]: caches.agents } : {}),
  };
  const storeOf = ({ plural }: Resource<KubeObject>) => stores[plural] as never;
  const secrets = memories.add('secrets', new SecretCache(clock));
  return { ...commonContext(controller, { clock, log, secrets, storeOf, agentNamespace }), isOurs, image, memories };
}
