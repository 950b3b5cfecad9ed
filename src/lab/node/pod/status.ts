import type { V1PodCondition, V1PodStatus } from '@kubernetes/client-node';
import type { Json, Pod } from '../../../kube/object.ts';
import { type ContainerStatus, statusesOf, withInitReason } from './container-status.ts';
import { hasSucceeded, shouldRestart } from './plan.ts';
import { freshView, type Views } from './view.ts';

type Condition = Json<V1PodCondition>;
export type PodStatus = Json<V1PodStatus>;

/** What a node knows of a pod beside its containers. */
export interface PodFacts {
  readonly views: Views;
  readonly address: string | undefined;
  readonly hostAddress: string;
  readonly now: Date;
}

/** The kubelet's part of a pod's status. */
export function podStatus(pod: Pod, { views, address, hostAddress, now }: PodFacts): PodStatus {
  const time = timeOf(now);
  const isInitialized = (pod.spec?.initContainers ?? []).every(({ name }) => hasSucceeded(views[name]));
  const shown = (pod.spec?.containers ?? []).map(
    (spec) =>
      [spec.name, withInitReason(views[spec.name] ?? freshView(spec.name, spec.image ?? ''), isInitialized)] as const,
  );
  const all = Object.fromEntries(shown.flatMap(([name, view]) => (view === undefined ? [] : [[name, view]])));
  const containers = statusesOf(pod, pod.spec?.containers ?? [], all);
  const inits = statusesOf(pod, pod.spec?.initContainers ?? [], views);
  const phase = phaseOf(pod, views);
  return {
    phase,
    hostIP: hostAddress,
    hostIPs: [{ ip: hostAddress }],
    ...(address === undefined ? {} : { podIP: address, podIPs: [{ ip: address }] }),
    startTime: pod.status?.startTime ?? time,
    containerStatuses: containers,
    ...(inits.length === 0 ? {} : { initContainerStatuses: inits }),
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
    conditions: conditionsOf(pod, { isInitialized, hasNetwork: address !== undefined, containers, phase, time }),
  };
}

/** The whole pod in one word, as the kubelet chooses it. */
export function phaseOf({ spec, status }: Pod, views: Views): 'Pending' | 'Running' | 'Succeeded' | 'Failed' {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return status.phase;
  const policy = spec?.restartPolicy ?? 'Always';
  const inits = (spec?.initContainers ?? []).map(({ name }) => views[name]);
  if (policy === 'Never' && inits.some((view) => view?.state.is === 'terminated' && view.state.exitCode !== 0))
    return 'Failed';
  if (!inits.every(hasSucceeded)) return 'Pending';
  const states = (spec?.containers ?? []).map(({ name }) => views[name]);
  if (states.some((view) => view === undefined || (view.state.is === 'waiting' && view.last === undefined)))
    return 'Pending';
  const codes = states.flatMap((view) => (view?.state.is === 'terminated' ? [view.state.exitCode] : []));
  if (codes.length < states.length || codes.some((code) => shouldRestart(policy, code))) return 'Running';
  return codes.every((code) => code === 0) ? 'Succeeded' : 'Failed';
}

interface Findings {
  readonly isInitialized: boolean;
  readonly hasNetwork: boolean;
  readonly containers: readonly ContainerStatus[];
  readonly phase: string;
  readonly time: string;
}

function conditionsOf(pod: Pod, findings: Findings): readonly Condition[] {
  const { isInitialized, hasNetwork, containers, phase, time } = findings;
  const unready = containers.filter(({ ready }) => !ready).map(({ name }) => name);
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  const readiness = readinessOf(phase, unready);
  const own: readonly Condition[] = [
    { type: 'PodReadyToStartContainers', status: hasNetwork && !isOver ? 'True' : 'False' },
    { type: 'Initialized', ...initialization(pod, isInitialized, phase) },
    { type: 'Ready', ...readiness },
    { type: 'ContainersReady', ...readiness },
  ];
  const known = pod.status?.conditions ?? [];
  const ours = own.map((condition) => sinceOf(condition, known, time));
  return [...ours, ...known.filter(({ type }) => !own.some((each) => each.type === type))];
}

type Verdict = Pick<Condition, 'status' | 'reason' | 'message'>;

function readinessOf(phase: string, unready: readonly string[]): Verdict {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  if (unready.length === 0) return { status: 'True' };
  const message = `containers with unready status: [${unready.join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotReady', message };
}

function initialization({ spec }: Pod, isInitialized: boolean, phase: string): Verdict {
  if (isInitialized) return phase === 'Succeeded' ? { status: 'True', reason: 'PodCompleted' } : { status: 'True' };
  const names = (spec?.initContainers ?? []).map(({ name }) => name);
  const message = `containers with incomplete status: [${names.join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotInitialized', message };
}

/** A condition keeps the time at which it last changed. */
function sinceOf(condition: Condition, known: readonly Condition[], time: string): Condition {
  const before = known.find(({ type }) => type === condition.type);
  const since = before?.status === condition.status ? (before.lastTransitionTime ?? time) : time;
  return { ...condition, lastTransitionTime: since };
}

/** As the API writes times: whole seconds. */
export const timeOf = (date: Date): string => date.toISOString().replace(/\.\d+Z$/, 'Z');
