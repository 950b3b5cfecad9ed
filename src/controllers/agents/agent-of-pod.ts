import { z } from 'zod';
import type { Agent, AgentFacts, AgentReport, AgentState } from '../../core/model/agent.ts';
import type { Pod, Stored } from '../../kube/object.ts';

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

/** The annotation that tells for which time a pod was started. */
export const slotAnnotation = (group: string): string => `${group}/slot`;
/** The label of every agent's pod, by which they are found. */
export const agentLabel = (group: string): string => `${group}/agent`;

export function agentOf(pod: Stored<Pod>, group: string): Agent {
  const { name, uid, annotations, creationTimestamp } = pod.metadata;
  const slot = Number(annotations?.[slotAnnotation(group)] ?? Number.NaN);
  return {
    name,
    uid,
    slot: Number.isNaN(slot) ? 0 : slot,
    createdAt: Date.parse(creationTimestamp),
    state: stateOf(pod),
  };
}

/** One that is being deleted says nothing of how its work would have ended: when it is gone it is started again. */
export function stateOf({ metadata, status }: Stored<Pod>): AgentState {
  if (metadata.deletionTimestamp !== undefined) return { is: 'starting', why: 'it is being deleted' };
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return { is: 'ended', report: reportOf(status) };
  const containers = containersOf(status);
  if (containers.some(({ state }) => state?.running !== undefined)) return { is: 'running' };
  return { is: 'starting', why: whyNot(status) };
}

const containersOf = (status: Pod['status']): readonly ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

/** "It is being created" says nothing; what goes wrong with images does, and so does the scheduler. */
function whyNot(status: Pod['status']): string {
  const [waiting] = containersOf(status).flatMap(({ state }) => (isTelling(state?.waiting) ? [state?.waiting] : []));
  if (waiting !== undefined) return waiting.message ?? waiting.reason ?? '';
  const unscheduled = status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False');
  return unscheduled?.message ?? '';
}

const isTelling = (waiting: { readonly reason?: string } | undefined): boolean =>
  waiting !== undefined && waiting.reason !== 'ContainerCreating' && waiting.reason !== 'PodInitializing';

interface End {
  readonly name: string;
  readonly result: Result | undefined;
  readonly reason: string | undefined;
  readonly code: number;
}

function reportOf(status: NonNullable<Pod['status']>): AgentReport {
  const ends = containersOf(status).flatMap(({ name, state }): readonly End[] => {
    const end = state?.terminated;
    return end === undefined ? [] : [{ name, result: resultIn(end.message), reason: end.reason, code: end.exitCode }];
  });
  const [first] = ends;
  const facts = first?.result?.ok === true ? factsIn(first.result) : {};
  if (status.phase === 'Succeeded') return { ok: true, message: sentence(facts), facts };
  const failed = ends.find(({ code }) => code !== 0);
  return { ok: false, message: words(failed?.name, whyFailed(failed, status)), facts };
}

/** What the agent said; if it could say nothing, what Kubernetes says of its pod. */
function whyFailed(end: End | undefined, { message, reason }: NonNullable<Pod['status']>): string {
  const said = [end?.result?.message, message, end?.reason, reason];
  return said.find((each) => each !== undefined && each !== '') ?? 'no reason given';
}

/** In the original's words, where it has any. */
function words(call: string | undefined, why: string): string {
  if (call === 'prune') return `succeeded in saving snapshot but failed to delete old snapshot (${why})`;
  return call === 'save' ? `failed to save snapshot (${why})` : why;
}

const sentence = ({ url, size, revision }: AgentFacts): string =>
  url === undefined ? 'done' : `revision ${revision} is at ${url}, ${size} bytes`;

const resultSchema = z.looseObject({
  ok: z.boolean(),
  message: z.string().optional().catch(undefined),
  url: z.string().optional().catch(undefined),
  takenAt: z.string().optional().catch(undefined),
  size: z.number().optional().catch(undefined),
  seconds: z.number().optional().catch(undefined),
  version: z.string().optional().catch(undefined),
  revision: z.string().optional().catch(undefined),
  warnings: z.array(z.string()).optional().catch(undefined),
});
type Result = z.output<typeof resultSchema>;

const factsIn = ({ url, takenAt, size, seconds, version, revision, warnings }: Result): AgentFacts => ({
  ...{ url, takenAt, size, seconds, version, revision, warnings },
});

function resultIn(message: string | undefined): Result | undefined {
  try {
    return resultSchema.safeParse(JSON.parse(message ?? '')).data;
  } catch {
    return undefined; // it was ended by somebody else, before it could say anything
  }
}
