/** A pod that runs one job of a backup or a restore. */
export interface Agent {
  readonly name: string;
  readonly uid: string;
  /** The scheduled time of its run, in milliseconds. It is unique among the agents of one resource. */
  readonly slot: number;
  readonly createdAt: number;
  readonly state: AgentState;
  readonly isTerminating?: boolean;
  /** True if the pod is terminating far beyond its grace period, for example because its node is lost. */
  readonly isOverdue?: boolean;
}

export type AgentState =
  /** `why`: the cause if the pod has not started yet. */
  | { readonly is: 'starting'; readonly why: string }
  /** `progress`: undefined if the agent reports none. */
  | { readonly is: 'running'; readonly progress?: AgentProgress | undefined }
  | { readonly is: 'ended'; readonly report: AgentReport };

/** The progress of an agent. */
export interface AgentProgress {
  readonly phase: string;
  readonly bytes: number;
  readonly totalBytes?: number | undefined;
  readonly bytesPerSecond: number;
}

/** The result of an agent. */
export interface AgentReport {
  readonly ok: boolean;
  readonly message: string;
  readonly facts: AgentFacts;
  /** True if the pod was stopped from outside before its job was done. A new pod may succeed. */
  readonly wasInterrupted?: boolean;
  /** True if the failure may be transient, for example an unreachable object store. */
  readonly mayPass?: boolean;
}

/** Facts about a snapshot that was saved or read. */
export interface AgentFacts {
  readonly url?: string | undefined;
  readonly takenAt?: string | undefined;
  readonly size?: number | undefined;
  readonly seconds?: number | undefined;
  readonly version?: string | undefined;
  /** A decimal string: an int64 can exceed the safe integers. */
  readonly revision?: string | undefined;
  readonly warnings?: readonly string[] | undefined;
  /** The EtcdCluster at the time of the snapshot. */
  readonly cluster?: SavedCluster | undefined;
}

export interface SavedCluster {
  readonly apiVersion: string;
  readonly spec: Readonly<Record<string, unknown>>;
}
