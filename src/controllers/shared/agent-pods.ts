import { inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import type { Agent, AgentFacts, AgentReport, AgentState, SavedCluster } from '../../core/backup/agent.ts';
import type { Pod, Stored } from '../../kube/object.ts';
import { withoutCredentials } from '../../std/redact.ts';
import { waitingMessage } from './pod-output.ts';

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

/** The annotation with the scheduled time of the work of an agent pod. */
const scheduledAtAnnotation = (group: string): string => `${group}/scheduled-at`;

export const scheduledAt = (group: string, slot: number): Readonly<Record<string, string>> => ({
  [scheduledAtAnnotation(group)]: new Date(slot).toISOString(),
});

/** The label of all agent pods. */
export const agentLabel = (group: string): string => `${group}/agent`;

/** The scheduled time of an agent pod; NaN without a valid annotation. */
export const slotIn = (annotations: Readonly<Record<string, string>> | undefined, group: string): number =>
  Date.parse(annotations?.[scheduledAtAnnotation(group)] ?? '');

export function agentOf(pod: Stored<Pod>, group: string): Agent {
  const { name, uid, annotations, creationTimestamp, deletionTimestamp } = pod.metadata;
  const slot = slotIn(annotations, group);
  return {
    name,
    uid,
    slot: Number.isNaN(slot) ? 0 : slot,
    createdAt: Date.parse(creationTimestamp),
    state: agentStateOf(pod),
    isTerminating: deletionTimestamp !== undefined,
  };
}

/** The result of a pod that is being deleted does not count: the agent is started again in a new pod. */
export function agentStateOf(pod: Stored<Pod>): AgentState {
  const { metadata, status } = pod;
  if (metadata.deletionTimestamp !== undefined) return { is: 'starting', why: 'the pod is being deleted' };
  if (status !== undefined && isOver(pod)) return { is: 'ended', report: reportOf(pod) };
  const containers = containersOf(status);
  if (containers.some(({ state }) => state?.running !== undefined)) return { is: 'running' };
  return { is: 'starting', why: startProblem(pod) };
}

/**
 * The kubelet updates the pod phase about a second after the last container has ended, so containers are checked too.
 */
function isOver({ spec, status = {} }: Stored<Pod>): boolean {
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return true;
  return spec?.restartPolicy === 'Never' && haveEnded(status.containerStatuses ?? []);
}

const haveEnded = (containers: readonly ContainerStatus[]): boolean =>
  containers.length > 0 && containers.every(({ state }) => state?.terminated !== undefined);

const containersOf = (status: Pod['status']): readonly ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

/** Returns why a pod has not started: the message of a waiting container, or of the scheduler. */
function startProblem(pod: Stored<Pod>): string {
  const waiting = containersOf(pod.status).find(({ state }) => isProblem(state?.waiting));
  return waiting === undefined ? schedulingReason(pod.status) : waitingReason(pod, waiting);
}

const waitingReason = (pod: Stored<Pod>, { name, state }: ContainerStatus): string =>
  waitingMessage(pod, name, state?.waiting ?? {}) ?? state?.waiting?.reason ?? '';

const schedulingReason = (status: Pod['status']): string =>
  status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False')?.message ?? '';

const isProblem = (waiting: { readonly reason?: string } | undefined): boolean =>
  waiting !== undefined && waiting.reason !== 'ContainerCreating' && waiting.reason !== 'PodInitializing';

interface End {
  readonly name: string;
  readonly result: Result | undefined;
  readonly reason: string | undefined;
  readonly code: number;
}

/** A pod succeeds only if every agent left a complete result with ok: true. An exit code of 0 alone is not enough. */
function reportOf(pod: Stored<Pod>): AgentReport {
  const { status = {} } = pod;
  const ends = endsIn(pod);
  const [first] = ends;
  const facts = factsOf(first);
  const failed = ends.find((end) => !hasSucceeded(end));
  if (haveAllSucceeded(ends) && status.phase !== 'Failed') return good(facts);
  const why = whyFailed(failed, status);
  if (hasSaved(first)) return notPruned(facts, why);
  const cut = failed === first && wasInterrupted(failed, status) ? { wasInterrupted: true } : {};
  return { ok: false, message: failureText(failed?.name, why), facts, ...cut, ...passing(failed) };
}

const haveAllSucceeded = (ends: readonly End[]): boolean => ends.length > 0 && ends.every(hasSucceeded);

const passing = (end: End | undefined): Pick<AgentReport, 'mayPass'> =>
  end !== undefined && (end.result?.mayPass === true || lacksResult(end)) ? { mayPass: true } : {};

/**
 * Returns how each agent of a pod ended. Containers that an admission webhook added are no agents and leave no result.
 */
function endsIn({ spec, status }: Stored<Pod>): readonly End[] {
  const declared = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  const others = new Set(declared.filter(({ command = [] }) => command[1] !== 'agent').map(({ name }) => name));
  return containersOf(status).flatMap(({ name, state }): readonly End[] => {
    const end = state?.terminated;
    if (end === undefined || others.has(name)) return [];
    return [{ name, result: resultIn(end.message), reason: end.reason, code: end.exitCode }];
  });
}

/** A backup without a URL cannot be restored, so its result does not count as success. */
const hasSucceeded = ({ name, code, result }: End): boolean =>
  code === 0 && result?.ok === true && (name !== 'save' || result.url !== undefined);

/** True if the agent ended with exit code 0, and its result is missing or cut off. */
const lacksResult = (end: End): boolean => end.code === 0 && end.result?.ok !== false && !hasSucceeded(end);

const factsOf = (end: End | undefined): AgentFacts => (end?.result?.ok === true ? factsIn(end.result) : {});

const good = (facts: AgentFacts): AgentReport => ({ ok: true, message: sentence(facts), facts });

/** The backup succeeded; only the deletion of old backups failed. */
const notPruned = (facts: AgentFacts, why: string): AgentReport =>
  good({ ...facts, warnings: [...(facts.warnings ?? []), failureText('prune', why)] });

const hasSaved = (end: End | undefined): boolean => end?.name === 'save' && hasSucceeded(end);

/**
 * True if the agent was ended by a signal or with its node. A deadline or lack of memory would occur again, and does
 * not count.
 */
function wasInterrupted(end: End | undefined, { reason }: NonNullable<Pod['status']>): boolean {
  if (reason === 'DeadlineExceeded') return false;
  if (end === undefined) return reason !== undefined;
  if (end.result !== undefined) return end.result.trouble === 'stopped';
  return end.reason !== 'OOMKilled' && end.code > endedBySignal;
}

const endedBySignal = 128;

/** The message of the agent, or else the message that Kubernetes set on its pod. */
function whyFailed(end: End | undefined, { message, reason }: NonNullable<Pod['status']>): string {
  if (end !== undefined && lacksResult(end)) return 'the agent ended without a complete result; see the log of its pod';
  const messages = [end?.result?.message, message, end?.reason, reason];
  return messages.find((each) => each !== undefined && each !== '') ?? 'no reason given';
}

/** Keeps the texts of the original operator for failed saves and prunes. */
function failureText(call: string | undefined, why: string): string {
  if (call === 'prune') return `succeeded in saving snapshot but failed to delete old snapshot (${why})`;
  return call === 'save' ? `failed to save snapshot (${why})` : why;
}

const sentence = ({ url, size, revision }: AgentFacts): string =>
  url === undefined ? 'done' : `revision ${revision} is at ${url}, ${size} bytes`;

const savedCluster = z.object({ apiVersion: z.string(), spec: z.record(z.string(), z.unknown()) });

/** Termination messages are short, so agents compress the cluster. Invalid content counts as missing. */
function unpacked(packed: string): SavedCluster | undefined {
  try {
    const text = inflateRawSync(Buffer.from(packed, 'base64'), { maxOutputLength: 2 ** 20 }).toString();
    return savedCluster.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const resultSchema = z.looseObject({
  ok: z.boolean(),
  message: z.string().transform(withoutCredentials).optional().catch(undefined),
  trouble: z.string().optional().catch(undefined),
  mayPass: z.boolean().optional().catch(undefined),
  url: z.string().optional().catch(undefined),
  takenAt: z.string().optional().catch(undefined),
  size: z.number().optional().catch(undefined),
  seconds: z.number().optional().catch(undefined),
  version: z.string().optional().catch(undefined),
  revision: z.string().optional().catch(undefined),
  warnings: z.array(z.string().transform(withoutCredentials)).optional().catch(undefined),
  cluster: z.string().transform(unpacked).optional().catch(undefined),
});
type Result = z.output<typeof resultSchema>;

const factsIn = ({ url, takenAt, size, seconds, version, revision, warnings, cluster }: Result): AgentFacts => ({
  url,
  takenAt,
  size,
  seconds,
  version,
  revision,
  warnings,
  cluster,
});

/** The result that one agent left in its termination message. */
export interface ParsedAgentResult {
  readonly ok: boolean;
  readonly message: string;
  /** True if a retry may succeed although nothing has changed. */
  readonly mayPass: boolean;
  /** Set if the agent succeeded. */
  readonly facts: AgentFacts | undefined;
}

export function parseAgentResult(terminationMessage: string | undefined): ParsedAgentResult | undefined {
  const result = resultIn(terminationMessage);
  if (result === undefined) return undefined;
  const { ok, message = '', mayPass = false } = result;
  return { ok, message, mayPass, facts: ok ? factsIn(result) : undefined };
}

function resultIn(message: string | undefined): Result | undefined {
  try {
    return resultSchema.safeParse(JSON.parse(message ?? '')).data;
  } catch {
    return undefined; // the agent was ended before it could write a result
  }
}
