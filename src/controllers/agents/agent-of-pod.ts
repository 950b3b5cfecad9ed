import { inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import type { Agent, AgentFacts, AgentReport, AgentState, SavedCluster } from '../../core/model/agent.ts';
import type { Pod, Stored } from '../../kube/object.ts';
import { withoutCredentials } from '../../std/redact.ts';
import { waitingMessage } from './quoted.ts';

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

/** The annotation that tells for which time a pod was started. */
export const slotAnnotation = (group: string): string => `${group}/slot`;
/** The label of every agent's pod, by which they are found. */
export const agentLabel = (group: string): string => `${group}/agent`;

export function agentOf(pod: Stored<Pod>, group: string): Agent {
  const { name, uid, annotations, creationTimestamp, deletionTimestamp } = pod.metadata;
  const slot = Number(annotations?.[slotAnnotation(group)] ?? Number.NaN);
  return {
    name,
    uid,
    slot: Number.isNaN(slot) ? 0 : slot,
    createdAt: Date.parse(creationTimestamp),
    state: stateOf(pod),
    isGoing: deletionTimestamp !== undefined,
  };
}

/** One that is being deleted says nothing of how its work would have ended: when it is gone it is started again. */
export function stateOf(pod: Stored<Pod>): AgentState {
  const { metadata, status } = pod;
  if (metadata.deletionTimestamp !== undefined) return { is: 'starting', why: 'it is being deleted' };
  if (status !== undefined && isOver(pod)) return { is: 'ended', report: reportOf(pod) };
  const containers = containersOf(status);
  if (containers.some(({ state }) => state?.running !== undefined)) return { is: 'running' };
  return { is: 'starting', why: whyNot(pod) };
}

/** A kubelet takes a second more to say it of a pod whose containers have all ended for good. */
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

/** "It is being created" says nothing; what goes wrong with images does, and so does the scheduler. */
function whyNot(pod: Stored<Pod>): string {
  const held = containersOf(pod.status).find(({ state }) => isTelling(state?.waiting));
  return held === undefined ? whyUnscheduled(pod.status) : whyHeld(pod, held);
}

const whyHeld = (pod: Stored<Pod>, { name, state }: ContainerStatus): string =>
  waitingMessage(pod, name, state?.waiting ?? {}) ?? state?.waiting?.reason ?? '';

const whyUnscheduled = (status: Pod['status']): string =>
  status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False')?.message ?? '';

const isTelling = (waiting: { readonly reason?: string } | undefined): boolean =>
  waiting !== undefined && waiting.reason !== 'ContainerCreating' && waiting.reason !== 'PodInitializing';

interface End {
  readonly name: string;
  readonly result: Result | undefined;
  readonly reason: string | undefined;
  readonly code: number;
}

/** A good report takes a whole result that says so from every agent of the pod: an exit code alone proves nothing. */
function reportOf(pod: Stored<Pod>): AgentReport {
  const { status = {} } = pod;
  const ends = endsIn(pod);
  const [first] = ends;
  const facts = factsOf(first);
  const failed = ends.find((end) => !hasDoneWell(end));
  if (areAllWell(ends) && status.phase !== 'Failed') return good(facts);
  const why = whyFailed(failed, status);
  if (hasSaved(first)) return notPruned(facts, why);
  const cut = failed === first && isCutShort(failed, status) ? { isCutShort: true } : {};
  return { ok: false, message: words(failed?.name, why), facts, ...cut, ...passing(failed) };
}

const areAllWell = (ends: readonly End[]): boolean => ends.length > 0 && ends.every(hasDoneWell);

const passing = (end: End | undefined): Pick<AgentReport, 'mayPass'> =>
  end !== undefined && (end.result?.mayPass === true || lacksResult(end)) ? { mayPass: true } : {};

/** How each agent of a pod ended. Containers that an admission webhook has added are no agents, and leave no result. */
function endsIn({ spec, status }: Stored<Pod>): readonly End[] {
  const declared = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  const others = new Set(declared.filter(({ command = [] }) => command[1] !== 'agent').map(({ name }) => name));
  return containersOf(status).flatMap(({ name, state }): readonly End[] => {
    const end = state?.terminated;
    if (end === undefined || others.has(name)) return [];
    return [{ name, result: resultIn(end.message), reason: end.reason, code: end.exitCode }];
  });
}

/** A backup that does not say where it is cannot be restored. */
const hasDoneWell = ({ name, code, result }: End): boolean =>
  code === 0 && result?.ok === true && (name !== 'save' || result.url !== undefined);

/** It ended as if all were well, and left no result, or one that was cut off. */
const lacksResult = (end: End): boolean => end.code === 0 && end.result?.ok !== false && !hasDoneWell(end);

const factsOf = (end: End | undefined): AgentFacts => (end?.result?.ok === true ? factsIn(end.result) : {});

const good = (facts: AgentFacts): AgentReport => ({ ok: true, message: sentence(facts), facts });

/** What is stored is whole; only what should have gone is still there. */
const notPruned = (facts: AgentFacts, why: string): AgentReport =>
  good({ ...facts, warnings: [...(facts.warnings ?? []), words('prune', why)] });

const hasSaved = (end: End | undefined): boolean => end?.name === 'save' && hasDoneWell(end);

/** By a signal, or with its node; that it took too much time or memory is its own doing, and would be so again. */
function isCutShort(end: End | undefined, { reason }: NonNullable<Pod['status']>): boolean {
  if (reason === 'DeadlineExceeded') return false;
  if (end === undefined) return reason !== undefined;
  if (end.result !== undefined) return end.result.trouble === 'stopped';
  return end.reason !== 'OOMKilled' && end.code > endedBySignal;
}

const endedBySignal = 128;

/** What the agent said; if it could say nothing, what Kubernetes says of its pod. */
function whyFailed(end: End | undefined, { message, reason }: NonNullable<Pod['status']>): string {
  if (end !== undefined && lacksResult(end)) return 'it ended without a whole result; see the log of its pod';
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

const savedCluster = z.object({ apiVersion: z.string(), spec: z.record(z.string(), z.unknown()) });

/** An agent has little room, and packs what is long; whoever writes nonsense there has said nothing. */
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
  ...{ url, takenAt, size, seconds, version, revision, warnings, cluster },
});

/** What one agent left behind, where it could say anything. */
export interface AgentWords {
  readonly ok: boolean;
  readonly message: string;
  /** Whether it may go well another time, with nothing changed. */
  readonly mayPass: boolean;
  /** Where it went well. */
  readonly facts: AgentFacts | undefined;
}

export function wordsIn(terminationMessage: string | undefined): AgentWords | undefined {
  const result = resultIn(terminationMessage);
  if (result === undefined) return undefined;
  const { ok, message = '', mayPass = false } = result;
  return { ok, message, mayPass, facts: ok ? factsIn(result) : undefined };
}

function resultIn(message: string | undefined): Result | undefined {
  try {
    return resultSchema.safeParse(JSON.parse(message ?? '')).data;
  } catch {
    return undefined; // it was ended by somebody else, before it could say anything
  }
}
