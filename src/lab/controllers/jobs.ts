import { isDeepStrictEqual } from 'node:util';
import type { Pod, Stored } from '../../kube/object.ts';
import type { Runnable } from '../../runtime/manager.ts';
import { again, done, type Outcome } from '../../runtime/outcome.ts';
import { unless } from '../../std/failure.ts';
import { ownerIndex } from '../caches.ts';
import { type Job, jobs } from '../kinds.ts';
import { timeOf } from '../node/pod/status.ts';
import { controller, ownerKey, ownKey, podOf, type Tools } from './controller.ts';
import { NewPods, settleSeconds } from './new-pods.ts';

/** Runs plain Jobs: pods until enough of them have succeeded or too many failed. */
export function jobController(tools: Tools): Runnable {
  const { stores } = tools;
  const made = new NewPods(tools);
  return controller(tools, {
    watch: (add) => {
      stores.jobs.onChange(ownKey(add));
      stores.pods.onChange((change) => {
        made.seen(change.object);
        ownerKey<Pod>('Job', add)(change);
      });
    },
    reconcile: async (key) => {
      const job = stores.jobs.get(key);
      if (job === undefined || job.metadata.deletionTimestamp !== undefined || isFinished(job)) return done;
      return made.areAwaited(job) ? again(settleSeconds) : await reconcile(tools, job, made);
    },
  });
}

const isFinished = ({ status }: Job): boolean =>
  (status?.conditions ?? []).some(
    ({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True',
  );

async function reconcile(tools: Tools, job: Stored<Job>, made: NewPods): Promise<Outcome> {
  const own = tools.stores.pods.by(ownerIndex, job.metadata.namespace, job.metadata.uid);
  const counts = countsOf(job, own);
  const missing = missingOf(job, counts);
  const { made: more, refusal } = await made.make(missing, job, () => podOf(job, job.spec?.template, labelsOf(job)));
  await publish(tools, job, { ...counts, active: counts.active + more });
  if (refusal !== undefined) throw refusal;
  return done;
}

function countsOf({ spec }: Job, own: readonly Pod[]): Counts {
  const count = (phase: string): number => own.filter(({ status }) => status?.phase === phase).length;
  const [succeeded, failed] = [count('Succeeded'), count('Failed')];
  return { active: own.length - succeeded - failed, succeeded, failed, isFailed: failed > (spec?.backoffLimit ?? 6) };
}

/** How many pods are to be started now. */
function missingOf({ spec }: Job, { active, succeeded, isFailed }: Counts): number {
  const { completions = 1, parallelism = 1, suspend = false } = spec ?? {};
  if (suspend || isFailed) return 0;
  return Math.max(0, Math.min(parallelism - active, completions - succeeded - active));
}

const labelsOf = ({ metadata: { name, uid } }: Stored<Job>): Readonly<Record<string, string>> => ({
  'batch.kubernetes.io/controller-uid': uid,
  'batch.kubernetes.io/job-name': name,
  'job-name': name,
});

interface Counts {
  readonly active: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly isFailed: boolean;
}

async function publish({ client, clock }: Tools, job: Stored<Job>, counts: Counts): Promise<void> {
  const time = timeOf(clock.now());
  const { active, succeeded, failed } = counts;
  const startTime = job.status?.startTime ?? time;
  const status = { active, succeeded, failed, startTime, ready: 0, ...ending(job, counts, time) };
  if (isDeepStrictEqual({ ...job.status, ...status }, job.status)) return;
  const patch = { type: 'merge', body: { status }, subresource: 'status' } as const;
  await unless('not-found', client.patch(jobs, job.metadata, patch), undefined);
}

function ending({ spec }: Job, { succeeded, isFailed }: Counts, time: string): object {
  const times = { lastProbeTime: time, lastTransitionTime: time };
  const condition = (type: string, reason: string) => ({ type, status: 'True', reason, message: '', ...times });
  if (isFailed)
    return { conditions: ['FailureTarget', 'Failed'].map((type) => condition(type, 'BackoffLimitExceeded')) };
  if (succeeded < (spec?.completions ?? 1)) return {};
  const reached = ['SuccessCriteriaMet', 'Complete'].map((type) => condition(type, 'CompletionsReached'));
  return { completionTime: time, conditions: reached };
}
