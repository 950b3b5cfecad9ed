import type { Times } from '../schedule/slots.ts';
import type { Agent } from './agent.ts';
import type { StorePlace } from './store-place.ts';

/** What is asked of a backup. */
export interface BackupIntent {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly createdAt: number;
  readonly source: BackupSource;
  readonly store: StorePlace;
  /** With whose credentials the store is opened. The operator's are shown to nobody: their agents work where it does. */
  readonly credentials: 'own' | 'operators';
  readonly timeoutSeconds: number;
  /** For whom it is kept in the store: the resource itself, or the schedule that has it made. */
  readonly keptFor: Keeper | undefined;
  /** Without it there is one backup, and no more. */
  readonly times: BackupTimes | undefined;
  readonly paused: boolean;
  readonly keep: Retention;
  readonly compression: 'none' | 'gzip' | 'zstd';
  /** Fields of the agent's pod that are as the user wrote them. */
  readonly serviceAccountName: string | undefined;
}

export interface BackupTimes extends Times {
  /** Whether the first is made when the resource is created, and not only when a time has come. */
  readonly startsAtOnce: boolean;
}

/** How much is kept; what is not said limits nothing. */
export interface Retention {
  readonly count?: number | undefined;
  readonly ageSeconds?: number | undefined;
}

export interface Keeper {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export type BackupSource =
  | {
      readonly endpoints: readonly string[];
      readonly tlsSecret: string | undefined;
      readonly userSecret?: string | undefined;
    }
  /** A cluster of the same API and namespace: its members, certificates and users are found by its name. */
  | { readonly cluster: string };

/** What the status says of earlier runs. */
export interface BackupMemory {
  /** Whether the one backup that was asked for has been tried. */
  readonly isFinished: boolean;
  /** The time for which the last run that has ended was started. */
  readonly lastSlot: number | undefined;
  /** When the run that is under way began: one pod may follow another in it. */
  readonly begunAt?: number | undefined;
  /** How many have failed since the last good one. */
  readonly failures: number;
}

export interface BackupWorld {
  readonly now: number;
  readonly intent: BackupIntent;
  readonly memory: BackupMemory;
  readonly agents: readonly Agent[];
  /** What keeps an agent from being started, in a sentence. */
  readonly obstacle: string | undefined;
}
