import { setTimeout as sleep } from 'node:timers/promises';
import { declared } from '../support/cluster.ts';
import { currentPlace } from '../support/place.ts';
import type { StoryContext } from '../support/story.ts';
import { clientAccessIn } from '../support/tls-cluster.ts';
import { waitForDeletion } from '../support/waits.ts';
import { Changes } from './changes.ts';
import { cause, type Scene } from './faults.ts';
import { hashViolations, inventoryOf, leaksSince, statusViolations } from './final-checks.ts';
import { historyVerdicts } from './history-verdicts.ts';
import { changesOf } from './operation.ts';
import { type ChangeKind, type Episode, type FaultKind, type PlannedFault, type PlanSettings, planOf } from './plan.ts';
import { type Restored, restoreViolations } from './restored.ts';
import { Choices } from './seeded.ts';
import { clientServiceOf } from './service.ts';
import { type CheckResult, type RunFacts, tallyOperations, timesOf } from './verdicts.ts';
import { unionOf } from './watches.ts';
import { startWorkload, type Workload } from './workload.ts';

export interface ChaosSettings extends PlanSettings {
  /** The run ends with the episode in which this time is over, but not before the least number of episodes. */
  readonly minutes: number;
  readonly episodes?: number;
  readonly pauseMillis?: number;
}

/** Seconds in which a cluster must be healthy after the last fault of an episode. */
const healSeconds = 240;

/** What a run notes while it goes on. */
class Notes {
  readonly faults: Partial<Record<FaultKind, number>> = {};
  readonly changes: Record<string, number> = {};
  readonly unhealed: string[] = [];
  readonly lies: string[] = [];

  caused(kind: FaultKind): void {
    this.faults[kind] = (this.faults[kind] ?? 0) + 1;
  }

  changed(kind: ChangeKind): void {
    this.changes[kind] = (this.changes[kind] ?? 0) + 1;
  }
}

/** Runs clients, faults and changes together until the time is over, then checks everything. */
export async function runChaos(context: StoryContext, settings: ChaosSettings): Promise<RunFacts> {
  const { seed, minutes } = settings;
  const db = declared(context.kubectl, 'db', () => clientAccessIn(context.kubectl, 'db-client-tls'));
  const stop = new AbortController();
  const scene: Scene = { context, db, signal: stop.signal };
  const [changes, notes] = [new Changes(scene), new Notes()];
  await changes.prepare();
  const before = await inventoryOf(db);
  const service = clientServiceOf(scene, new Choices(seed + 1));
  const workload = startWorkload({ service, ...settings });
  try {
    await runEpisodes({ scene, changes, notes }, settings);
  } finally {
    stop.abort();
  }
  return {
    ...{ seed, minutes, place: currentPlace() },
    ...(await judge({ scene, notes, before, restored: changes.restored }, workload)),
    ...{ faults: notes.faults, changes: notes.changes },
  };
}

interface Running {
  readonly scene: Scene;
  readonly changes: Changes;
  readonly notes: Notes;
}

async function runEpisodes(running: Running, settings: ChaosSettings): Promise<void> {
  const deadline = performance.now() + settings.minutes * 60_000;
  const { episodes = 1 } = settings;
  for (const [turn, episode] of numbered(planOf(settings))) {
    const { change, faults } = episode;
    const title = `${turn}: ${change}, with ${faults.map(({ kind }) => kind).join(', ')}`;
    const hasHealed = await running.scene.context.step(title, () => runEpisode(running, episode));
    if (!hasHealed || (performance.now() > deadline && turn + 1 >= episodes)) return;
  }
}

function* numbered<T>(items: Iterable<T>): Generator<readonly [number, T]> {
  let index = 0;
  for (const item of items) yield [index++, item];
}

/** Requests a change, causes the faults meanwhile, and waits until the cluster is as wanted. */
async function runEpisode({ scene, changes, notes }: Running, { change, faults }: Episode): Promise<boolean> {
  const complete = await changes.request(change);
  notes.changed(change);
  await Promise.all(faults.map((fault) => causeLater(fault, scene, notes)));
  try {
    await complete();
    await scene.db.settled(changes.size, healSeconds);
  } catch (thrown) {
    notes.unhealed.push(`after ${change} with ${faults.map(({ kind }) => kind).join(', ')}: ${String(thrown)}`);
    return false;
  }
  notes.lies.push(...(await statusViolations(scene.db)));
  return true;
}

async function causeLater(fault: PlannedFault, scene: Scene, notes: Notes): Promise<void> {
  await sleep(fault.afterMillis);
  const target = await cause(fault, scene);
  process.stdout.write(`    ${fault.kind}: ${target ?? 'nothing to act on'}\n`);
  if (target !== undefined) notes.caused(fault.kind);
}

interface Finished {
  readonly scene: Scene;
  readonly notes: Notes;
  readonly before: readonly string[];
  readonly restored: readonly Restored[];
}

type Judged = Pick<RunFacts, 'seconds' | 'operations' | 'longestGap' | 'events' | 'sessions' | 'verdicts'>;

async function judge({ scene, notes, before, restored }: Finished, workload: Workload): Promise<Judged> {
  const { context, db } = scene;
  const recording = await context.step('clients stop, and watchers catch up', () => workload.end());
  const { operations, watches, last } = recording;
  const hashes = await context.step('members are compared', () => hashViolations(db, last));
  const history = await context.step('the history is checked', () => historyVerdicts(recording, context.namespace));
  const leaks = await context.step('the cluster is deleted', () => leaksAfterDeletion(scene, before));
  const verdicts: readonly CheckResult[] = [
    ...history,
    { question: 'Do all members have the same HashKV at the last revision?', violations: hashes },
    {
      question: 'Do restored clusters have the keys of the revision of their backup?',
      violations: restoreViolations(restored, unionOf(watches, changesOf(operations))),
    },
    { question: `Did the cluster heal within ${healSeconds} s of each fault?`, violations: notes.unhealed },
    { question: 'Did the status say what etcd says, whenever the cluster was healthy?', violations: notes.lies },
    { question: 'Is nothing left after the deletion: no pod, PVC, Secret, Lease, Service?', violations: leaks },
  ];
  const sessions = watches.flatMap((watch) => watch.sessions);
  const events = sessions.reduce((sum, session) => sum + session.events.length, 0);
  return {
    ...{ operations: tallyOperations(operations), ...timesOf(operations) },
    ...{ events, sessions: sessions.length, verdicts },
  };
}

async function leaksAfterDeletion({ context, db }: Scene, before: readonly string[]): Promise<readonly string[]> {
  const { kubectl } = context;
  await kubectl('delete etcdbackups.etcd.database.coreos.com --all');
  await kubectl(`delete ${db.resource}`);
  await waitForDeletion(kubectl, `pods -l ${db.label}`, 120);
  return leaksSince(before, db);
}
