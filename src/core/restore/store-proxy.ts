import type { ObjectRef, RestorePhase, RestoreWorld } from './model.ts';
import { act, blocked, type RestoreVerdict, wait } from './step.ts';

/** The store proxy of a restore: a pod that reads the backup with the operator's credentials, for agents. */
export interface StoreProxy {
  readonly name: string;
  /** Why the operator's credentials may not read this backup. */
  readonly refusal: string | undefined;
  /** Why no store proxy can be started. */
  readonly obstacle: string | undefined;
  /** `why`: the cause if the pod has not started yet. */
  readonly pod: (ObjectRef & { readonly state: 'starting' | 'running' | 'ended'; readonly why: string }) | undefined;
  /** True if the Secret with its certificate exists. The pod starts after that. */
  readonly hasIdentity: boolean;
  /** The Secret that tells agents its address. `unknown` until the pod runs; `foreign`: another object has its name. */
  readonly access: 'unknown' | 'outdated' | 'current' | 'foreign';
}

export const hasEnded = (phase: RestorePhase): boolean => phase === 'complete' || phase === 'failed';

/** True if an agent reads the store or is about to: a waiting restore may wait for a reader. */
function isReading(verdict: RestoreVerdict): boolean {
  if (verdict.is === 'wait') return verdict.isBlocked !== true;
  return verdict.is === 'act' && (verdict.step.kind === 'prove' || verdict.step.kind === 'start-seed');
}

/** True if the plan depends on the store proxy, which has not been observed in this pass. */
export const needsStoreProxy = (verdict: RestoreVerdict, { intent, memory, storeProxy }: RestoreWorld): boolean =>
  storeProxy === undefined && intent.credentials === 'operators' && !hasEnded(memory.phase) && isReading(verdict);

/**
 * What the store proxy needs before an agent reads: its steps, and for a new reader its waits. A restore that waits for
 * its readers keeps its own message.
 */
export function keepStoreProxy(verdict: RestoreVerdict, { storeProxy }: RestoreWorld): RestoreVerdict | undefined {
  if (storeProxy === undefined || !isReading(verdict)) return undefined;
  const next = planStoreProxy(storeProxy);
  return verdict.is === 'wait' && next?.is === 'wait' ? undefined : next;
}

/** Undefined if agents can read through the store proxy. */
function planStoreProxy({ name, refusal, obstacle, pod, ...proxy }: StoreProxy): RestoreVerdict | undefined {
  if (refusal !== undefined) return refuse(refusal, pod);
  if (obstacle !== undefined) return blocked(obstacle);
  if (pod === undefined) return act({ kind: 'start-store-proxy' }, `starting store proxy ${name}, ${purpose}`);
  if (pod.state === 'ended') return act({ kind: 'discard-store-proxy', pod }, `replacing store proxy ${name}`);
  if (!proxy.hasIdentity)
    return act({ kind: 'identify-store-proxy' }, `creating the certificate of store proxy ${name}`);
  return publish({ name, pod, access: proxy.access });
}

const purpose = "which reads with the operator's credentials";

const refuse = (refusal: string, pod: StoreProxy['pod']): RestoreVerdict =>
  pod === undefined || pod.isTerminating === true
    ? blocked(refusal)
    : act({ kind: 'discard-store-proxy', pod }, `deleting store proxy ${pod.name}: ${refusal}`);

function publish({
  name,
  pod,
  access,
}: Pick<StoreProxy, 'name' | 'access'> & { readonly pod: NonNullable<StoreProxy['pod']> }): RestoreVerdict | undefined {
  switch (access) {
    case 'current':
      return undefined;
    case 'outdated':
      return act({ kind: 'publish-store-proxy' }, `publishing the address of store proxy ${name}`);
    case 'foreign':
      return blocked(`Secret "${name}" exists and does not belong to this restore: delete it`);
    case 'unknown':
      return wait(`waiting for store proxy ${name}, ${purpose}${pod.why === '' ? '' : `: ${pod.why}`}`);
    default:
      return access satisfies never;
  }
}
