import { agentLabel } from '../controllers/agents/agent-of-pod.ts';
import { awayIndex, byAway, byEmployer, type Home } from '../controllers/agents/away.ts';
import { RememberedSecrets } from '../controllers/cluster/remembered-secrets.ts';
import { type ClusterObject, ownerIndex, type Tools } from '../controllers/cluster/sources.ts';
import { writerFor } from '../controllers/cluster/writer.ts';
import type { AgentImage } from '../core/desired/agent-pod.ts';
import type { KubeClient } from '../kube/client.ts';
import { atOf, type KubeObject, keyOf, type ObjectMeta, type Pod } from '../kube/object.ts';
import { pods, type Resource } from '../kube/resource.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { EventRecorder } from '../runtime/events.ts';
import { Expectations } from '../runtime/expectations.ts';
import { type Runnable, runTogether } from '../runtime/manager.ts';
import { forgetting, Memories } from '../runtime/memories.ts';
import type { Outcome } from '../runtime/outcome.ts';
import { Reflector, type ReflectorOptions, whenSynced } from '../runtime/reflector.ts';
import { reflectorOfNamespaces } from '../runtime/reflector-of-namespaces.ts';
import { isStatusAlone, type Store } from '../runtime/store.ts';
import { whileLeading } from '../runtime/while-leading.ts';
import { WorkQueue } from '../runtime/work-queue.ts';
import { type Reconcile, workers } from '../runtime/worker.ts';
import type { Failure } from '../std/failure.ts';
import { type Log, watchRestarts } from './log.ts';
import { tellOnce } from './tell-once.ts';

export interface AgentParts {
  readonly client: KubeClient;
  /** Where the operator itself is. */
  readonly namespace: string;
  /** The one namespace to look after; without it, all. */
  readonly scope: string | undefined;
  readonly isOurs: (metadata: ObjectMeta) => boolean;
  readonly leads: Tools['leads'];
  readonly identity: string;
  readonly image: AgentImage | string;
  readonly log: Log;
  readonly onTrouble: (failure: Failure) => void;
  readonly onOutcome: (key: string, outcome: Outcome, seconds: number) => void;
  /** Shown how to count what is kept in memory. */
  readonly onMemories?: ((remembered: () => Readonly<Record<string, number>>) => void) | undefined;
}

/** Copies of what there is: what was declared, and the pods that work for it. */
export interface Shelves {
  readonly declared: Store<ClusterObject>;
  readonly agents: Store<Pod>;
}

type Shared = 'isOurs' | 'writer' | 'caughtUp' | 'now' | 'tell' | 'log' | 'secrets';

/** What all controllers of a kind with agents work with. */
export type SharedTools = Pick<Tools, Shared> & Pick<AgentParts, 'client' | 'image'> & Remembering;

interface Remembering {
  /** For what a controller keeps of its objects from one pass to the next. */
  readonly memories: Memories;
}

/** A kind whose work is done by agents. */
export interface AgentKind {
  readonly resource: Resource<ClusterObject>;
  /** What its agents are labelled with; or the kind of resource that does its work in place of pods. */
  readonly purpose: string | Resource<ClusterObject>;
  /** Who speaks in its Events; the operator's pod where nobody is named. */
  readonly speaker?: string | undefined;
  readonly reconciler: (tools: SharedTools, shelves: Shelves) => Reconcile<string>;
  /** Whether agents of it may work in the operator's own namespace, with its credentials. */
  readonly worksAtHome?: boolean;
  /** Of which pods changes of ours are waited for in the copy: agents, or none where the others are looked up live. */
  readonly expects: 'agents' | 'nothing';
}

/** How agents are found. */
export const agentIndexes = (home: Home) => ({ [ownerIndex]: byEmployer(home), [awayIndex]: byAway(home) });

/** How many are looked after side by side; all they do here is to wait for others. */
const workerCount = 4;

/** What looks after the objects of such a kind while this replica leads. */
export const agentController =
  (parts: AgentParts, kind: AgentKind): Runnable =>
  async (signal) => {
    const { scope: namespace, identity, onTrouble, onOutcome } = parts;
    const client = whileLeading(parts.client, parts.leads);
    const { resource, speaker = identity } = kind;
    const home = { group: resource.group, namespace: parts.namespace };
    const onRestart = watchRestarts(parts.log);
    const common = { client, namespace, clock, onTrouble, onRestart, indexes: agentIndexes(home) };
    const declared = new Reflector<ClusterObject>({ ...common, resource });
    const agents = reflectorOfAgents(parts, kind, common);
    const memories = new Memories();
    const speaking = { component: speaker, instance: identity };
    const recorder = memories.add('events', new EventRecorder({ client, clock, onTrouble, ...speaking }));
    const queue = new WorkQueue<string>(clock);
    enqueueChanges(
      { declared: declared.store, agents: agents.store },
      { queue, kind: resource.kind, home, scope: namespace },
    );
    const shelves = { declared: declared.store, agents: agents.store };
    const tools = toolsOf({ ...parts, client }, { kind, shelves, recorder, memories });
    const isOver = (key: string): boolean => declared.store.get(key) === undefined;
    const reconcile = forgetting(kind.reconciler(tools, shelves), memories, isOver);
    parts.onMemories?.(() => ({ queue: queue.remembered, ...memories.sizes() }));
    const working = workers({ queue, reconcile, count: workerCount, isFair: true, clock, onOutcome });
    const afterSync: Runnable = async (stop) => {
      if (await whenSynced([declared, agents] as never, stop)) await working(stop);
    };
    await runTogether([(stop) => declared.run(stop), (stop) => agents.run(stop), afterSync], signal);
    await recorder.flush(AbortSignal.timeout(2_000));
  };

/** Who does the work of a kind: pods, or resources that are looked after by others. */
function workersOf({ resource: { group }, purpose }: AgentKind): {
  readonly resource: Resource<Pod>;
  readonly labelSelector?: string;
} {
  if (typeof purpose === 'string') return { resource: pods, labelSelector: `${agentLabel(group)}=${purpose}` };
  return { resource: purpose as Resource<never> };
}

type Common = Omit<ReflectorOptions<Pod>, 'resource' | 'labelSelector'>;

/** Agents are beside their resource; those with the operator's credentials are in its own namespace. */
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

interface Heard {
  readonly queue: WorkQueue<string>;
  readonly kind: string;
  readonly home: Home;
  readonly scope: string | undefined;
}

/** What happens to an object, or to an agent that works for it, has the object looked at. */
function enqueueChanges({ declared, agents }: Shelves, { queue, kind, home, scope }: Heard): void {
  declared.onChange((change) => {
    const key = keyOf(change.object.metadata);
    if (isStatusAlone(change)) queue.add(key);
    else queue.wake(key);
  });
  agents.onChange(({ object }) => {
    for (const key of [...ownersOf(object, kind), ...byAway(home)(object)]) if (isWithin(scope, key)) queue.wake(key);
  });
}

/**
 * Agents in the operator's namespace may work for resources of others. What this controller does not cache it would take for
 * deleted, and would remove its agents.
 */
const isWithin = (scope: string | undefined, key: string): boolean =>
  scope === undefined || atOf(key).namespace === scope;

interface Made {
  readonly kind: AgentKind;
  readonly shelves: Shelves;
  readonly recorder: EventRecorder;
  readonly memories: Memories;
}

function toolsOf(parts: AgentParts, { kind, shelves, recorder, memories }: Made): SharedTools {
  const { client, log, isOurs, image, namespace: agentNamespace } = parts;
  const onExpired = (key: string, what: string): void =>
    log.warn({ [kind.resource.plural]: key, what }, 'a cache is late');
  const expectations = memories.add('expectations', new Expectations({ clock, onExpired }));
  const stores: Readonly<Record<string, unknown>> = {
    [kind.resource.plural]: shelves.declared,
    ...(kind.expects === 'agents' ? { [workersOf(kind).resource.plural]: shelves.agents } : {}),
  };
  const storeOf = (resource: Resource<KubeObject>) => stores[resource.plural] as never;
  const secrets = memories.add('secrets', new RememberedSecrets(clock));
  const writing = { client, expectations, storeOf, agentNamespace, onStatus: () => undefined };
  return {
    ...{ client, isOurs, image, memories, secrets },
    writer: (key) => writerFor(key, { ...writing, onSecret: () => secrets.forget(key) }),
    caughtUp: (key) => expectations.caughtUp(key),
    now: clock.now,
    tell: tellOnce((about, news) => recorder.record(about, news), clock, memories),
    log: (level, message, fields) => log[level](fields, message),
  };
}
