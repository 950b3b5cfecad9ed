import type { V1PodCondition, V1PodStatus } from '@kubernetes/client-node';
import type { Json, Pod } from '../../../src/kube/object.ts';
import { type ContainerStatus, statusesOf, withInitReason } from './container-status.ts';
import { hasSucceeded, shouldRestart, specOf } from './plan.ts';
import { type ContainerView, freshView, type Views } from './view.ts';

type Condition = Json<V1PodCondition>;
export type PodStatus = Json<V1PodStatus>;

/** The kubelet's facts about a pod, for its status. */
export interface PodFacts {
  readonly views: Views;
  readonly address: string | undefined;
  readonly hostAddress: string;
  readonly now: Date;
}

/** The kubelet's part of a pod's status. */
export function podStatus(pod: Pod, { views, address, hostAddress, now }: PodFacts): PodStatus {
  const { initContainers = [], containers: specs } = specOf(pod);
  const time = formatTime(now);
  const isInitialized = initContainers.every(({ name }) => hasSucceeded(views[name]));
  const containers = statusesOf(pod, specs, viewsWithInitReason(pod, views, isInitialized));
  const inits = statusesOf(pod, initContainers, views).map((status) => ({ ...status, ready: isDone(status) }));
  const phase = phaseOf(pod, views);
  const { generation } = pod.metadata;
  return {
    phase,
    hostIP: hostAddress,
    hostIPs: [{ ip: hostAddress }],
    ...(address === undefined ? {} : { podIP: address, podIPs: [{ ip: address }] }),
    startTime: pod.status?.startTime ?? time,
    containerStatuses: containers,
    ...(inits.length === 0 ? {} : { initContainerStatuses: inits }),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    conditions: conditionsOf(pod, { isInitialized, hasNetwork: address !== undefined, containers, phase, time }),
  };
}

/** An init container is ready once it has succeeded. */
const isDone = ({ state }: ContainerStatus): boolean => state?.terminated?.exitCode === 0;

const viewsWithInitReason = (pod: Pod, views: Views, isInitialized: boolean): Views =>
  Object.fromEntries(
    specOf(pod).containers.map(({ name, image = '' }) => [
      name,
      withInitReason(views[name] ?? freshView(name, image), isInitialized),
    ]),
  );

type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

/** The phase of a pod, computed as the kubelet does. */
export function phaseOf(pod: Pod, views: Views): Phase {
  const { initContainers, containers, restartPolicy = 'Always' } = specOf(pod);
  const inits = (initContainers ?? []).map(({ name }) => views[name]);
  const states = containers.map(({ name }) => views[name]);
  const last = lastPhase(pod);
  if (last !== undefined) return last;
  if (restartPolicy === 'Never' && inits.some(hasFailed)) return 'Failed';
  if (!inits.every(hasSucceeded) || states.some(hasNotBegun)) return 'Pending';
  return phaseOfCodes(states.map(codeOf), restartPolicy);
}

/** A final phase never changes. */
function lastPhase({ status }: Pod): 'Succeeded' | 'Failed' | undefined {
  const phase = status?.phase;
  return phase === 'Failed' || phase === 'Succeeded' ? phase : undefined;
}

function phaseOfCodes(codes: readonly (number | undefined)[], policy: string): Phase {
  if (codes.some((code) => code === undefined || shouldRestart(policy, code))) return 'Running';
  return codes.every((code) => code === 0) ? 'Succeeded' : 'Failed';
}

const codeOf = (view: ContainerView | undefined): number | undefined =>
  view?.state.is === 'terminated' ? view.state.exitCode : undefined;

const hasFailed = (view: ContainerView | undefined): boolean => ![0, undefined].includes(codeOf(view));

const hasNotBegun = (view: ContainerView | undefined): boolean =>
  view === undefined || (view.state.is === 'waiting' && view.last === undefined);

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
  const hasFinished = phase === 'Succeeded' || phase === 'Failed';
  const readiness = readinessOf(phase, unready);
  const own: readonly Condition[] = [
    { type: 'PodReadyToStartContainers', status: hasNetwork && !hasFinished ? 'True' : 'False' },
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

function initialization(pod: Pod, isInitialized: boolean, phase: string): Verdict {
  if (isInitialized) return phase === 'Succeeded' ? { status: 'True', reason: 'PodCompleted' } : { status: 'True' };
  const names = (specOf(pod).initContainers ?? []).map(({ name }) => name);
  const message = `containers with incomplete status: [${names.join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotInitialized', message };
}

/** A condition keeps its transition time while its status stays the same. */
function sinceOf(condition: Condition, known: readonly Condition[], time: string): Condition {
  const before = known.find(({ type }) => type === condition.type);
  const since = before?.status === condition.status ? (before.lastTransitionTime ?? time) : time;
  return { ...condition, lastTransitionTime: since };
}

/** Formats a time as the API does: whole seconds. */
export const formatTime = (date: Date): string => date.toISOString().replace(/\.\d+Z$/, 'Z');
