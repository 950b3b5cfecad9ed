import type { AgentProgress } from '../backup/agent.ts';
import type { Due } from '../pki/due.ts';
import type { ObjectRef, RestorePhase, Seed } from './model.ts';

export type RestoreStep =
  | { readonly kind: 'prove' }
  /** Deletes an interrupted agent pod, so that another can be started. */
  | { readonly kind: 'discard-proof'; readonly proof: ObjectRef }
  | { readonly kind: 'start-seed'; readonly name: string }
  | { readonly kind: 'discard-seed'; readonly name: string }
  /** Adds a finalizer: an interruption from here on would leave neither the old nor the new cluster. */
  | { readonly kind: 'pin' }
  | { readonly kind: 'unpin' }
  /** Creates the EtcdCluster in the held state, so that the operator does not bootstrap it. */
  | { readonly kind: 'create-cluster' }
  | { readonly kind: 'hold-cluster' }
  | { readonly kind: 'stop-pods'; readonly pods: readonly ObjectRef[] }
  /** Moves the PVCs of the old members from the cluster to the restore. */
  | { readonly kind: 'set-aside'; readonly claims: readonly ObjectRef[] }
  | { readonly kind: 'hand-over'; readonly seed: Seed }
  /** Records the restored etcd cluster in the status of the EtcdCluster. */
  | {
      readonly kind: 'rewrite-memory';
      readonly seed: string;
      readonly clusterId: string;
      readonly memberId: string | undefined;
    }
  | { readonly kind: 'release-cluster' }
  /** Moves the PVCs of the old members back to the cluster, as PVCs of removed members. */
  | { readonly kind: 'keep-old-data'; readonly claims: readonly ObjectRef[] }
  | { readonly kind: 'discard-old-data'; readonly claims: readonly ObjectRef[] }
  | { readonly kind: 'issue-certificates'; readonly due: Exclude<Due, 'nothing'> }
  /** Writes certificates into the Secret that members mount. */
  | { readonly kind: 'stage-certificates' }
  /** Makes the EtcdCluster the owner of Secrets of the seed. */
  | { readonly kind: 'transfer-secrets'; readonly secrets: readonly ObjectRef[] }
  | { readonly kind: 'start-store-proxy' }
  /** Creates the Secret with the certificate of the store proxy, once the pod exists to own it. */
  | { readonly kind: 'identify-store-proxy' }
  /** Writes the address of the store proxy for the agents of the restore. */
  | { readonly kind: 'publish-store-proxy' }
  | { readonly kind: 'discard-store-proxy'; readonly pod: ObjectRef };

export type RestoreVerdict =
  | { readonly is: 'act'; readonly step: RestoreStep; readonly message: string }
  | {
      readonly is: 'wait';
      readonly message: string;
      readonly isBlocked?: true;
      /** The progress of the download. */
      readonly progress?: AgentProgress | undefined;
    }
  /** Records the next phase at once, because the next steps depend on it. */
  | {
      readonly is: 'enter';
      readonly phase: RestorePhase;
      readonly message: string;
      readonly clusterId?: string;
      readonly seed?: string;
    }
  | { readonly is: 'over' };

export const act = (step: RestoreStep, message: string): RestoreVerdict => ({ is: 'act', step, message });
export const wait = (message: string): RestoreVerdict => ({ is: 'wait', message });
export const blocked = (message: string): RestoreVerdict => ({ is: 'wait', message, isBlocked: true });
export const fail = (message: string): RestoreVerdict => ({ is: 'enter', phase: 'failed', message });
