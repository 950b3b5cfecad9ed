import type { AgentProgress } from '../../model/agent.ts';
import type { Body, RestorePhase, Seed } from '../../model/restore.ts';

export type RestoreStep =
  | { readonly kind: 'prove' }
  /** One that was ended by somebody else, so that another can be started. */
  | { readonly kind: 'discard-proof'; readonly proof: Body }
  | { readonly kind: 'start-seed'; readonly name: string }
  | { readonly kind: 'discard-seed'; readonly name: string }
  /** From here on, going away in the middle would leave neither the old cluster nor the new one. */
  | { readonly kind: 'pin' }
  | { readonly kind: 'unpin' }
  /** Already held, so that its operator does not found it anew. */
  | { readonly kind: 'create-cluster' }
  | { readonly kind: 'hold-cluster' }
  | { readonly kind: 'stop-pods'; readonly pods: readonly Body[] }
  /** Volumes of the old members leave the cluster and stay with the restore. */
  | { readonly kind: 'set-aside'; readonly claims: readonly Body[] }
  | { readonly kind: 'hand-over'; readonly seed: Seed }
  /** The cluster's memory is from now on that of what was restored. */
  | {
      readonly kind: 'rewrite-memory';
      readonly seed: string;
      readonly clusterId: string;
      readonly memberId: string | undefined;
    }
  | { readonly kind: 'release-cluster' }
  /** Volumes of the old members become the cluster's again, as those of members that were removed from it. */
  | { readonly kind: 'keep-old-data'; readonly claims: readonly Body[] }
  | { readonly kind: 'discard-old-data'; readonly claims: readonly Body[] };

export type RestoreVerdict =
  | { readonly is: 'act'; readonly step: RestoreStep; readonly message: string }
  | {
      readonly is: 'wait';
      readonly message: string;
      readonly isBlocked?: true;
      /** How much of the backup has been read. */
      readonly progress?: AgentProgress | undefined;
    }
  /** Written down at once: what comes next depends on it. */
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
