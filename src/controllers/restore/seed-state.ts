import { fetchContainer } from '../../core/desired/seed-pod.ts';
import type { Seed } from '../../core/model/restore.ts';
import type { Pod, Stored } from '../../kube/object.ts';
import { type AgentWords, stateOf, wordsIn } from '../agents/agent-of-pod.ts';
import { askProgress } from '../agents/ask-progress.ts';
import { saidAtTheEnd } from '../agents/quoted.ts';
import type { RestoreTools } from './sources.ts';

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['initContainerStatuses']>[number];

/** Whether its etcd has been started: it is asked itself whether it serves, since a kubelet is seconds late to say so. */
export const isUp = ({ status }: Stored<Pod>): boolean =>
  status?.containerStatuses?.some(({ name, state }) => name === 'etcd' && state?.running !== undefined) === true;

/** How far the seed is, and what is known of the backup since it was read to its end in there. */
export async function stateOfSeed(
  pod: Stored<Pod>,
  serves: boolean,
  tools: Pick<RestoreTools, 'wayTo'>,
): Promise<Pick<Seed, 'state' | 'why' | 'facts' | 'progress' | 'workedUntil'>> {
  if (pod.metadata.deletionTimestamp !== undefined) return { state: 'stopping', why: 'it is being deleted' };
  const said = saidOfBackup(pod);
  if (isRefusal(said)) return { state: 'refused', why: said?.message ?? '' };
  const facts = said?.facts;
  if (serves) return { state: 'ready', why: '', facts };
  const why = whyBroken(pod);
  if (why !== '') return { state: 'broken', why, facts, workedUntil: workedUntil(pod) };
  return { state: 'starting', facts, ...(await underWay(pod, tools)) };
}

/** What ran for so long has been at work: who gets no answer from a store gives up sooner. */
const atWorkMillis = 150_000;

/** When one of those before the member last ended well, or after a while: a large backup may break off on its way, long after the seed was made. */
function workedUntil(pod: Stored<Pod>): number | undefined {
  const times = containersOf(pod).flatMap((container) => {
    const { exitCode, startedAt, finishedAt } = endOf(container) ?? {};
    const [began, ended] = [startedAt, finishedAt].map((time) => Date.parse(String(time)));
    return ended !== undefined && (exitCode === 0 || ended - (began ?? ended) > atWorkMillis) ? [ended] : [];
  });
  const known = times.filter((time) => !Number.isNaN(time));
  return known.length === 0 ? undefined : Math.max(...known);
}

/** What was found when it was read to its end. */
function saidOfBackup(pod: Stored<Pod>): AgentWords | undefined {
  const fetching = containersOf(pod).find(({ name }) => name === fetchContainer);
  return fetching && saidBy(fetching);
}

/** What may pass is tried again by the kubelet, for as long as a seed is waited for. */
const isRefusal = (said: AgentWords | undefined): boolean => said?.ok === false && !said.mayPass;

const containersOf = ({ status }: Stored<Pod>): readonly ContainerStatus[] => status?.initContainerStatuses ?? [];

const endOf = ({ state, lastState }: ContainerStatus) => state?.terminated ?? lastState?.terminated;

const saidBy = (container: ContainerStatus): AgentWords | undefined => wordsIn(endOf(container)?.message);

/** A container before the member that fails again and again, or what keeps the pod from being started at all. */
function whyBroken(pod: Stored<Pod>): string {
  const failing = containersOf(pod).find(failsAgainAndAgain);
  if (failing !== undefined) return `${failing.name} fails: ${lastSaidBy(pod, failing)}`;
  const state = stateOf(pod);
  return state.is === 'starting' ? state.why : '';
}

/** One that was started again and is at work now, or has come to a good end, is past its trouble. */
const failsAgainAndAgain = ({ restartCount, state }: ContainerStatus): boolean =>
  restartCount > 1 && state?.running === undefined && state?.terminated?.exitCode !== 0;

function lastSaidBy(pod: Stored<Pod>, container: ContainerStatus): string {
  const { message, reason = 'it says nothing' } = endOf(container) ?? {};
  return saidBy(container)?.message ?? (message === undefined ? reason : saidAtTheEnd(pod, container.name, message));
}

async function underWay(pod: Stored<Pod>, tools: Pick<RestoreTools, 'wayTo'>): Promise<Pick<Seed, 'why' | 'progress'>> {
  const current = containersOf(pod).find(({ state }) => state?.running !== undefined);
  if (current === undefined) return { why: 'it is starting' };
  if (current.name !== fetchContainer) return { why: `${current.name} is at work` };
  const progress = await askProgress(pod, tools);
  return { why: `the backup is read and proven${share(progress)}`, progress };
}

/** In large steps, since every word is written down. */
const step = 10;

function share(progress: Awaited<ReturnType<typeof askProgress>>): string {
  if (progress?.totalBytes === undefined || progress.totalBytes === 0) return '';
  const percent = Math.floor((progress.bytes / progress.totalBytes) * (100 / step)) * step;
  return `, ${percent} % of ${progress.totalBytes} bytes`;
}
