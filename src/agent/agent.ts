import { readCredentials } from '../objectstore/credentials.ts';
import { openStore, openThroughStoreProxy } from '../objectstore/open.ts';
import type { ObjectStore } from '../objectstore/store.ts';
import { fetchSnapshot } from './fetch.ts';
import { inspectSnapshot } from './inspect.ts';
import { placeDataDirectory } from './place.ts';
import { Progress, serveProgress } from './progress.ts';
import { prune } from './prune.ts';
import { withoutSecrets } from './redact-result.ts';
import { AgentFailure, type AgentResult, resultOfFailure, writeResult } from './result.ts';
import { save } from './save.ts';
import { serveStore } from './serve-store.ts';
import { type AgentFlags, type SaveFlags, type Task, taskFrom } from './settings.ts';
import { openSource } from './source.ts';

/** Runs one agent command of a backup or a restore and writes its result. True if the command succeeded. */
export async function runAgent(args: readonly string[], stop: AbortSignal): Promise<boolean> {
  const task = taskFrom(args);
  const result = task.verb === 'place' ? await placeDataDirectory(task.flags) : await resultOf(task, stop);
  await writeResult(task.flags.result, await withoutSecrets(result, task.flags));
  return result.ok;
}

type StoreTask = Exclude<Task, { readonly verb: 'place' }>;

async function resultOf(task: StoreTask, stop: AbortSignal): Promise<AgentResult> {
  const { timeout, progressPort } = task.flags;
  const timedOut = timeout === undefined ? undefined : AbortSignal.timeout(Math.min(timeout * 1000, longestTimer));
  const signal = timedOut === undefined ? stop : AbortSignal.any([stop, timedOut]);
  const progress = new Progress();
  using _server = serveProgress(progressPort, progress);
  try {
    using store = await storeFor(task.flags);
    const facts = await perform(task, { store, progress, signal });
    return { ok: true, seconds: progress.seconds, ...facts };
  } catch (thrown) {
    if (stop.aborted)
      return resultOfFailure(new AgentFailure('stopped', 'the agent was stopped by a signal', { cause: thrown }));
    return resultOfFailure(timedOut?.aborted === true ? timeoutFailure(timeout, thrown) : thrown);
  }
}

/** Longer timers fire at once in Node. */
const longestTimer = 2 ** 31 - 1;

const timeoutFailure = (seconds: number | undefined, cause: unknown): AgentFailure =>
  new AgentFailure('time', `not finished within the timeout of ${seconds} s`, { cause });

async function storeFor({ url, credentials, secret, volume, storeProxy }: AgentFlags): Promise<ObjectStore> {
  if (storeProxy !== undefined) return openThroughStoreProxy(url.store, { directory: storeProxy });
  const mounted = credentials === undefined ? undefined : await readCredentials(credentials, secret);
  return openStore(url.store, { credentials: mounted, volume });
}

interface Parts {
  readonly store: ObjectStore;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

function perform(task: StoreTask, parts: Parts): Promise<object> {
  const { verb, flags } = task;
  if (verb === 'save') return saveFrom(flags, parts);
  if (verb === 'inspect') return inspectSnapshot({ address: flags.url, ...flags }, parts);
  if (verb === 'serve-store') return serveStore({ address: flags.url, ...flags }, parts);
  if (verb !== 'prune') return fetchSnapshot({ address: flags.url, ...flags }, parts);
  const { owner: ownerUid, ownerNamespace, below } = flags;
  const ownership = { path: flags.url.key, ownerUid, ownerNamespace, below };
  const ageMillis = flags.keepSeconds === undefined ? undefined : flags.keepSeconds * 1000;
  return prune({ ownership, policy: { count: flags.keep, ageMillis } }, { ...parts, now: new Date() });
}

async function saveFrom(flags: SaveFlags, parts: Parts): Promise<object> {
  const { endpoints, etcdTls: tls, etcdUser: user, url: address, dated, compression, about } = flags;
  using source = await openSource({ endpoints, tls, user }, parts.signal);
  return await save({ address, dated, compression, about }, { ...parts, source, now: new Date() });
}
