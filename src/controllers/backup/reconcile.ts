import { type BackupVerdict, planBackup } from '../../core/plan/backup/plan-backup.ts';
import { backupStatusOf } from '../../core/status/backup-status.ts';
import type { ReadBackup } from '../../dialects/backup-dialect.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import { keyOf, type Stored } from '../../kube/object.ts';
import { pods } from '../../kube/resource.ts';
import { again, done, failed, type Outcome } from '../../runtime/outcome.ts';
import type { Reconcile } from '../../runtime/worker.ts';
import { Failure, unless } from '../../std/failure.ts';
import { storeAccess } from '../agents/store-access.ts';
import { publish, withStatus } from '../cluster/publish.ts';
import type { ClusterObject } from '../cluster/sources.ts';
import { type ObservedBackup, observeBackup } from './observe.ts';
import { savePod } from './save-pod.ts';
import type { BackupTools } from './sources.ts';

/** How soon to look again at what nobody tells us of: Secrets are not watched, and time passes by itself. */
const seconds = { acted: 0.02, obstacle: 3, agent: 30, longestWait: 600 } as const;

/** One pass over one backup: observe, plan, act, tell. */
export function backupReconciler(tools: BackupTools): Reconcile<string> {
  return async (key) => {
    const found = tools.caches.backups.get(key);
    if (found === undefined) return done; // owner references clean up; what was stored stays
    if (hasOldFinalizer(found, tools)) return dropFinalizer(found, tools);
    if (found.metadata.deletionTimestamp !== undefined || !tools.isOurs(found.metadata)) return done;
    if (!tools.caughtUp(key)) return again(seconds.acted);
    const object = withStatus(found, tools);
    const read = tools.dialect.read(object);
    if (!read.ok) return refuse(object, read.problems.map(({ path, says }) => `${path}: ${says}`).join('; '), tools);
    const problem = problemWith(read.value);
    if (problem !== undefined) return refuse(object, problem, tools);
    return pass(object, read.value, tools);
  };
}

async function pass(object: Stored<ClusterObject>, read: ReadBackup, tools: BackupTools): Promise<Outcome> {
  const observed = await observeBackup(read, tools);
  const verdict = planBackup(observed.world);
  const status = backupStatusOf(verdict, read.intent);
  if (verdict.is === 'start') await start(object, { read, observed, slot: verdict.slot }, tools);
  if (status !== undefined) {
    const { generation } = object.metadata;
    const written = tools.dialect.writeStatus({ status, generation, now: tools.now() }, object.status);
    await publish(object, written, tools);
  }
  if (verdict.is === 'conclude') tellEnd(object, verdict, tools);
  if (verdict.is === 'discard') await remove(verdict.agent, read, tools);
  if (verdict.is === 'wait' && verdict.for === 'obstacle')
    tools.tell(object, { type: 'Warning', reason: 'BackupBlocked', message: verdict.message });
  return nextVisit(verdict, observed.world.now);
}

/** What only those who open stores can judge. */
function problemWith({ intent }: ReadBackup): string | undefined {
  try {
    storeAccess(intent.store, 'to-write');
    return undefined;
  } catch (thrown) {
    const { kind, message } = Failure.from(thrown);
    if (kind !== 'rejected') throw thrown;
    return message;
  }
}

async function refuse(object: Stored<ClusterObject>, problems: string, tools: BackupTools): Promise<Outcome> {
  tools.tell(object, { type: 'Warning', reason: 'BadSpec', message: problems });
  await publish(object, tools.dialect.writeProblems(problems, object.status, tools.now()), tools);
  return done; // until somebody corrects it, and then there is an event
}

interface Starting {
  readonly read: ReadBackup;
  readonly observed: ObservedBackup;
  readonly slot: number;
}

async function start(object: Stored<ClusterObject>, run: Starting, tools: BackupTools): Promise<void> {
  const { image } = tools;
  if (typeof image === 'string') return;
  const wanted = savePod({ ...run, image }, tools);
  await tools
    .writer(keyOf(object.metadata))
    .create(pods, wanted as never)
    .catch((thrown: unknown) => {
      if (!isAlreadyExists(thrown)) throw thrown; // another operator, or we before we were killed
    });
  tools.log('info', 'a backup begins', { backup: keyOf(object.metadata), pod: wanted.metadata.name });
  if (storeAccess(run.read.intent.store, 'to-write').isPlain)
    tools.tell(object, { type: 'Warning', reason: 'PlainHttp', message: plainHttp });
}

const plainHttp = 'the endpoint of the store is http://: whoever is on the way can read the whole database';

function tellEnd(
  object: Stored<ClusterObject>,
  { report }: BackupVerdict & { is: 'conclude' },
  tools: BackupTools,
): void {
  const { ok, message } = report;
  tools.log(ok ? 'info' : 'warn', 'a backup has ended', { backup: keyOf(object.metadata), ok, detail: message });
  tools.tell(object, { type: ok ? 'Normal' : 'Warning', reason: ok ? 'Saved' : 'BackupFailed', message });
}

async function remove(
  { name, uid }: { readonly name: string; readonly uid: string },
  { intent: { namespace, name: backup } }: ReadBackup,
  tools: BackupTools,
): Promise<void> {
  const writer = tools.writer(keyOf({ namespace, name: backup }));
  await unless('not-found', writer.remove(pods, { namespace, name }, { preconditions: { uid } }), undefined);
}

const hasOldFinalizer = ({ metadata }: Stored<ClusterObject>, { dialect }: BackupTools): boolean =>
  metadata.finalizers?.includes(dialect.oldFinalizer) === true;

/** The original's, without which nobody could delete the object when the original is gone. */
async function dropFinalizer({ metadata }: Stored<ClusterObject>, tools: BackupTools): Promise<Outcome> {
  const { namespace, name, resourceVersion } = metadata;
  const finalizers = (metadata.finalizers ?? []).filter((each) => each !== tools.dialect.oldFinalizer);
  const body = { metadata: { resourceVersion, finalizers } };
  await tools.writer(keyOf(metadata)).patch(tools.resource, { namespace, name }, { type: 'merge', body });
  return again(seconds.acted);
}

function nextVisit(verdict: BackupVerdict, now: number): Outcome {
  switch (verdict.is) {
    case 'start':
    case 'conclude':
    case 'discard':
      return again(seconds.acted);
    case 'wait':
      if (verdict.for === 'time')
        return again(Math.min(Math.max(verdict.until - now, 0) / 1000 + 0.01, seconds.longestWait));
      return again(verdict.for === 'agent' ? seconds.agent : seconds.obstacle);
    case 'paused':
    case 'finished':
      return done;
    default:
      return failed(verdict satisfies never);
  }
}
