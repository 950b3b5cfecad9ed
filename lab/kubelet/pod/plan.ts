import type { V1PodSpec } from '@kubernetes/client-node';
import type { Json, Pod } from '../../../src/kube/object.ts';
import type { ContainerSpec } from '../container/environment.ts';
import { mayStartAt } from './backoff.ts';
import type { ContainerView, Views } from './view.ts';

export type PodSpec = Json<V1PodSpec>;

export const specOf = ({ spec }: Pod): PodSpec => spec ?? { containers: [] };

/** The containers to start and to stop next. */
export interface PodPlan {
  readonly start: readonly ContainerSpec[];
  /** Running containers whose spec has changed: they are stopped, then started again. */
  readonly stop: readonly ContainerSpec[];
  /** When to plan again, in milliseconds, if nothing changes before. */
  readonly nextCheckAt: number | undefined;
}

type Verdict = 'start' | 'stop' | 'leave' | { readonly waitUntil: number };

/** Plans by the pod's restart policy and the states of its containers. */
export function planPod(spec: PodSpec, views: Views, now: number): PodPlan {
  const next = (spec.initContainers ?? []).find(({ name }) => !hasSucceeded(views[name]));
  const turn = next === undefined ? spec.containers : [next];
  const policy = spec.restartPolicy ?? 'Always';
  const effective = next === undefined || policy === 'Never' ? policy : 'OnFailure';
  const verdicts = turn.map(
    (container) => [container, verdictOf(container, { view: views[container.name], policy: effective, now })] as const,
  );
  const waits = verdicts.flatMap(([, verdict]) => (typeof verdict === 'object' ? [verdict.waitUntil] : []));
  return {
    start: verdicts.filter(([, verdict]) => verdict === 'start').map(([container]) => container),
    stop: verdicts.filter(([, verdict]) => verdict === 'stop').map(([container]) => container),
    nextCheckAt: waits.length === 0 ? undefined : Math.min(...waits),
  };
}

interface PlanContext {
  readonly view: ContainerView | undefined;
  readonly policy: string;
  readonly now: number;
}

function verdictOf({ image }: ContainerSpec, { view, policy, now }: PlanContext): Verdict {
  if (view === undefined) return 'start';
  const { state } = view;
  const isChanged = view.image !== image;
  switch (state.is) {
    case 'waiting':
      return isChanged ? 'start' : from(state.retryAt ?? now, now);
    case 'running':
      return isChanged ? 'stop' : 'leave';
    case 'terminated':
      if (!shouldRestart(policy, state.exitCode)) return 'leave';
      return isChanged ? 'start' : from(mayStartAt(view.backoff, Date.parse(state.finishedAt)), now);
    default:
      return state satisfies never;
  }
}

const from = (at: number, now: number): Verdict => (at <= now ? 'start' : { waitUntil: at });

export const shouldRestart = (policy: string, exitCode: number): boolean =>
  policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);

export const hasSucceeded = (view: ContainerView | undefined): boolean =>
  view?.state.is === 'terminated' && view.state.exitCode === 0;
