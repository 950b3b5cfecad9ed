import { fetchContainer } from '../../core/manifests/seed-pod.ts';
import type { Seed } from '../../core/restore/model.ts';
import type { Pod, Stored } from '../../kube/object.ts';
import { agentStateOf, type ParsedAgentResult, parseAgentResult } from '../shared/agent-pods.ts';
import { askProgress } from '../shared/agent-progress.ts';
import { terminationOutput } from '../shared/pod-output.ts';
import type { RestoreContext } from './context.ts';

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['initContainerStatuses']>[number];

/**
 * True if the etcd container runs. Whether etcd serves is asked of etcd: readiness from the kubelet is seconds late.
 */
export const isUp = ({ status }: Stored<Pod>): boolean =>
  status?.containerStatuses?.some(({ name, state }) => name === 'etcd' && state?.running !== undefined) === true;

/** State of the seed Pod, and the facts of the backup after its init container has read it to its end. */
export async function stateOfSeed(
  pod: Stored<Pod>,
  serves: boolean,
  context: Pick<RestoreContext, 'dialerTo'>,
): Promise<Pick<Seed, 'state' | 'why' | 'facts' | 'progress' | 'workedUntil'>> {
  if (pod.metadata.deletionTimestamp !== undefined) return { state: 'stopping', why: 'it is being deleted' };
  const result = fetchResult(pod);
  if (isRefusal(result)) return { state: 'refused', why: result?.message ?? '' };
  const facts = result?.facts;
  if (serves) return { state: 'ready', why: '', facts };
  const why = whyBroken(pod);
  if (why !== '') return { state: 'broken', why, facts, workedUntil: workedUntil(pod) };
  return { state: 'starting', facts, ...(await startProgress(pod, context)) };
}

/** A container that ran this long has transferred data: without an answer from the store, the agent fails sooner. */
const productiveMillis = 150_000;

/**
 * When an init container last succeeded, or failed after a long run. The timeout of a seed is counted from this
 * time: the transfer of a large backup may break off long after the seed was created.
 */
function workedUntil(pod: Stored<Pod>): number | undefined {
  const times = containersOf(pod).flatMap((container) => {
    const { exitCode, startedAt, finishedAt } = endOf(container) ?? {};
    const [began, ended] = [startedAt, finishedAt].map((time) => Date.parse(String(time)));
    return ended !== undefined && (exitCode === 0 || ended - (began ?? ended) > productiveMillis) ? [ended] : [];
  });
  const known = times.filter((time) => !Number.isNaN(time));
  return known.length === 0 ? undefined : Math.max(...known);
}

/** Result of the init container that fetches and verifies the backup. */
function fetchResult(pod: Stored<Pod>): ParsedAgentResult | undefined {
  const fetching = containersOf(pod).find(({ name }) => name === fetchContainer);
  return fetching && resultOf(fetching);
}

/** True if a retry cannot succeed. The kubelet retries all other failures until the seed times out. */
const isRefusal = (result: ParsedAgentResult | undefined): boolean => result?.ok === false && !result.mayPass;

const containersOf = ({ status }: Stored<Pod>): readonly ContainerStatus[] => status?.initContainerStatuses ?? [];

const endOf = ({ state, lastState }: ContainerStatus) => state?.terminated ?? lastState?.terminated;

const resultOf = (container: ContainerStatus): ParsedAgentResult | undefined =>
  parseAgentResult(endOf(container)?.message);

/** The init container that fails repeatedly, or what keeps the Pod from starting; empty if neither. */
function whyBroken(pod: Stored<Pod>): string {
  const failing = containersOf(pod).find(failsRepeatedly);
  if (failing !== undefined) return `${failing.name} fails: ${lastFailureOf(pod, failing)}`;
  const state = agentStateOf(pod);
  return state.is === 'starting' ? state.why : '';
}

/** A restarted container that runs or has succeeded counts as recovered. */
const failsRepeatedly = ({ restartCount, state }: ContainerStatus): boolean =>
  restartCount > 1 && state?.running === undefined && state?.terminated?.exitCode !== 0;

function lastFailureOf(pod: Stored<Pod>, container: ContainerStatus): string {
  const { message, reason = 'no termination message' } = endOf(container) ?? {};
  return (
    resultOf(container)?.message ?? (message === undefined ? reason : terminationOutput(pod, container.name, message))
  );
}

async function startProgress(
  pod: Stored<Pod>,
  context: Pick<RestoreContext, 'dialerTo'>,
): Promise<Pick<Seed, 'why' | 'progress'>> {
  const current = containersOf(pod).find(({ state }) => state?.running !== undefined);
  if (current === undefined) return { why: 'it is starting' };
  if (current.name !== fetchContainer) return { why: `${current.name} is running` };
  const progress = await askProgress(pod, context);
  return { why: `reading and verifying the backup${share(progress)}`, progress };
}

/** Percent are rounded down to multiples of this: each change of the message is a write of the status. */
const step = 10;

function share(progress: Awaited<ReturnType<typeof askProgress>>): string {
  if (progress?.totalBytes === undefined || progress.totalBytes === 0) return '';
  const percent = Math.floor((progress.bytes / progress.totalBytes) * (100 / step)) * step;
  return `, ${percent} % of ${progress.totalBytes} bytes`;
}
