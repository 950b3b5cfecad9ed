import type { Times } from '../schedule/slots.ts';
import type { Agent } from './agent.ts';
import type { StoreLocation } from './store-location.ts';

/** The wanted state of a backup. */
export interface BackupIntent {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly createdAt: number;
  readonly source: BackupSource;
  readonly store: StoreLocation;
  /**
   * `operators`: the agent uses the operator's credentials. It then runs in the operator's namespace, to protect them.
   */
  readonly credentials: 'own' | 'operators';
  readonly timeoutSeconds: number;
  /** The schedule that owns the stored object for retention; undefined if the backup itself owns it. */
  readonly keptFor: RetentionOwner | undefined;
  /** Undefined for a single backup. */
  readonly times: BackupTimes | undefined;
  readonly paused: boolean;
  readonly keep: Retention;
  readonly compression: 'none' | 'gzip' | 'zstd';
  /** The ServiceAccount of the agent pod. */
  readonly serviceAccountName: string | undefined;
}

export interface BackupTimes extends Times {
  /** True if the first backup starts when the resource is created. */
  readonly startsAtOnce: boolean;
}

/** Retention of old backups. An undefined field sets no limit. */
export interface Retention {
  readonly count?: number | undefined;
  readonly ageSeconds?: number | undefined;
}

export interface RetentionOwner {
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
  /** The name of an EtcdCluster of the same API and namespace. Its members, certificates and users are used. */
  | { readonly cluster: string };

/** What the status records of earlier runs. */
export interface BackupMemory {
  /** True if a single backup has succeeded or failed. */
  readonly isFinished: boolean;
  /** The scheduled time of the last finished run. */
  readonly lastSlot: number | undefined;
  /** The start of the current run. A run can have several pods, one after the other. */
  readonly begunAt?: number | undefined;
  /** The number of failures since the last success. */
  readonly failures: number;
}

export interface BackupWorld {
  readonly now: number;
  readonly intent: BackupIntent;
  readonly memory: BackupMemory;
  readonly agents: readonly Agent[];
  /** A message with the cause if no agent can be started. */
  readonly obstacle: string | undefined;
}
