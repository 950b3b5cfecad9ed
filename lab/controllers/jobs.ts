import { isDeepStrictEqual } from 'node:util';
import type { Pod, Stored } from '../../src/kube/object.ts';
import type { Runnable } from '../../src/runtime/manager.ts';
import { done, type Outcome, requeueAfter } from '../../src/runtime/outcome.ts';
import { unless } from '../../src/std/failure.ts';
import { ownerIndex } from '../caches.ts';
import { type Job, jobs } from '../kinds.ts';
import { formatTime } from '../kubelet/pod/status.ts';
import { type ControllerContext, controller, ownerKey, ownKey, podOf } from './controller.ts';
import { cacheWaitSeconds, NewPods } from './new-pods.ts';

/** Runs Jobs: creates pods until enough have succeeded or too many have failed. */
export function jobController(context: ControllerContext): Runnable {
  const { stores } = context;
  const newPods = new NewPods(context);
  return controller(context, {
    watch: (add) => {
      stores.jobs.onChange(ownKey(add));
      stores.pods.onChange((change) => {
        newPods.markSeen(change.object);
        ownerKey<Pod>('Job', add)(change);
      });
    },
    reconcile: async (key) => {
      const job = stores.jobs.get(key);
      if (job === undefined || job.metadata.deletionTimestamp !== undefined || isFinished(job)) return done;
      return newPods.areUnseen(job) ? requeueAfter(cacheWaitSeconds) : await reconcile(context, job, newPods);
    },
  });
}

const isFinished = ({ status }: Job): boolean =>
  (status?.conditions ?? []).some(
    ({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True',
  );

async function reconcile(context: ControllerContext, job: Stored<Job>, newPods: NewPods): Promise<Outcome> {
  const own = context.stores.pods.by(ownerIndex, job.metadata.namespace, job.metadata.uid);
  const counts = countsOf(job, own);
  const missing = missingOf(job, counts);
  const { created, failure } = await newPods.create(missing, job, () => podOf(job, job.spec?.template, labelsOf(job)));
  await publish(context, job, { ...counts, active: counts.active + created });
  if (failure !== undefined) throw failure;
  return done;
}

function countsOf({ spec }: Job, own: readonly Pod[]): Counts {
  const count = (phase: string): number => own.filter(({ status }) => status?.phase === phase).length;
  const [succeeded, failed] = [count('Succeeded'), count('Failed')];
  return { active: own.length - succeeded - failed, succeeded, failed, isFailed: failed > (spec?.backoffLimit ?? 6) };
}

/** The number of pods to create now. */
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

async function publish({ client, clock }: ControllerContext, job: Stored<Job>, counts: Counts): Promise<void> {
  const time = formatTime(clock.now());
  const { active, succeeded, failed } = counts;
  const startTime = job.status?.startTime ?? time;
  const status = { active, succeeded, failed, startTime, ready: 0, ...finalStatus(job, counts, time) };
  if (isDeepStrictEqual({ ...job.status, ...status }, job.status)) return;
  const patch = { type: 'merge', body: { status }, subresource: 'status' } as const;
  await unless('not-found', client.patch(jobs, job.metadata, patch), undefined);
}

function finalStatus({ spec }: Job, { succeeded, isFailed }: Counts, time: string): object {
  const times = { lastProbeTime: time, lastTransitionTime: time };
  const condition = (type: string, reason: string) => ({ type, status: 'True', reason, message: '', ...times });
  if (isFailed)
    return { conditions: ['FailureTarget', 'Failed'].map((type) => condition(type, 'BackoffLimitExceeded')) };
  if (succeeded < (spec?.completions ?? 1)) return {};
  const reached = ['SuccessCriteriaMet', 'Complete'].map((type) => condition(type, 'CompletionsReached'));
  return { completionTime: time, conditions: reached };
}
