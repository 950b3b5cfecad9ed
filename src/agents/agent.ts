import { readCredentials } from '../storage/credentials.ts';
import { openByCourier, openStore } from '../storage/open.ts';
import type { ObjectStore } from '../storage/store.ts';
import { carry } from './carry.ts';
import { fetchSnapshot } from './fetch.ts';
import { lookAtSnapshot } from './look.ts';
import { placed } from './place.ts';
import { Progress, serveProgress } from './progress.ts';
import { prune } from './prune.ts';
import { withoutSecrets } from './redact-result.ts';
import { AgentFailure, type AgentResult, leaveResult, resultOfFailure } from './result.ts';
import { save } from './save.ts';
import { type AgentFlags, type SaveFlags, type Task, taskFrom } from './settings.ts';
import { openSource } from './source.ts';

/** Does one thing for a backup or a restore, tells how it went, and says whether it went well. */
export async function runAgent(words: readonly string[], stop: AbortSignal): Promise<boolean> {
  const task = taskFrom(words);
  const result = task.verb === 'place' ? await placed(task.flags) : await resultOf(task, stop);
  await leaveResult(task.flags.result, await withoutSecrets(result, task.flags));
  return result.ok;
}

type StoreTask = Exclude<Task, { readonly verb: 'place' }>;

async function resultOf(task: StoreTask, stop: AbortSignal): Promise<AgentResult> {
  const { timeout, progressPort } = task.flags;
  const tooLate = timeout === undefined ? undefined : AbortSignal.timeout(Math.min(timeout * 1000, longestTimer));
  const signal = tooLate === undefined ? stop : AbortSignal.any([stop, tooLate]);
  const progress = new Progress();
  using _shown = serveProgress(progressPort, progress);
  try {
    using store = await storeFor(task.flags);
    const facts = await perform(task, { store, progress, signal });
    return { ok: true, seconds: progress.seconds, ...facts };
  } catch (thrown) {
    if (stop.aborted)
      return resultOfFailure(new AgentFailure('stopped', 'the agent was told to stop', { cause: thrown }));
    return resultOfFailure(tooLate?.aborted === true ? late(timeout, thrown) : thrown);
  }
}

/** Node takes what is longer for no time at all. */
const longestTimer = 2 ** 31 - 1;

const late = (seconds: number | undefined, cause: unknown): AgentFailure =>
  new AgentFailure('time', `not done within ${seconds} s, which is all it was given`, { cause });

async function storeFor({ url, credentials, secret, volume, courier }: AgentFlags): Promise<ObjectStore> {
  if (courier !== undefined) return openByCourier(url.store, { pass: courier });
  const shown = credentials === undefined ? undefined : await readCredentials(credentials, secret);
  return openStore(url.store, { credentials: shown, volume });
}

interface Parts {
  readonly store: ObjectStore;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

function perform(task: StoreTask, parts: Parts): Promise<object> {
  const { verb, flags } = task;
  if (verb === 'save') return saveBy(flags, parts);
  if (verb === 'look') return lookAtSnapshot({ address: flags.url, ...flags }, parts);
  if (verb === 'carry') return carry({ address: flags.url, ...flags }, parts);
  if (verb !== 'prune') return fetchSnapshot({ address: flags.url, ...flags }, parts);
  const { owner: ownerUid, ownerNamespace, below } = flags;
  const ownership = { path: flags.url.key, ownerUid, ownerNamespace, below };
  const ageMillis = flags.keepSeconds === undefined ? undefined : flags.keepSeconds * 1000;
  return prune({ ownership, policy: { count: flags.keep, ageMillis } }, { ...parts, now: new Date() });
}

async function saveBy(flags: SaveFlags, parts: Parts): Promise<object> {
  const { endpoints, etcdTls: tls, etcdUser: user, url: address, dated, compression, about } = flags;
  using source = await openSource({ endpoints, tls, user }, parts.signal);
  return await save({ address, dated, compression, about }, { ...parts, source, now: new Date() });
}
