/** A pod that does one thing for a backup or a restore, and then ends. */
export interface Agent {
  readonly name: string;
  readonly uid: string;
  /** The time for which it was started, in milliseconds: no two agents of one resource share it. */
  readonly slot: number;
  readonly createdAt: number;
  readonly state: AgentState;
  /** It is being deleted already. */
  readonly isGoing?: boolean;
  /** It should have been gone for a while: its node is lost, for example. */
  readonly isOverdue?: boolean;
}

export type AgentState =
  /** `why` it has not started yet, where that is known. */
  | { readonly is: 'starting'; readonly why: string }
  /** `progress` where it says how far it is. */
  | { readonly is: 'running'; readonly progress?: AgentProgress | undefined }
  | { readonly is: 'ended'; readonly report: AgentReport };

/** How far an agent is. */
export interface AgentProgress {
  readonly phase: string;
  readonly bytes: number;
  readonly totalBytes?: number | undefined;
  readonly bytesPerSecond: number;
}

/** What an agent left behind. */
export interface AgentReport {
  readonly ok: boolean;
  readonly message: string;
  readonly facts: AgentFacts;
  /** Somebody ended it before it could come to an end itself: another one may do better. */
  readonly isCutShort?: boolean;
  /** It failed, and may do better another time with nothing changed: a store was out of reach, for example. */
  readonly mayPass?: boolean;
}

/** What is known of a snapshot that was saved or read. */
export interface AgentFacts {
  readonly url?: string | undefined;
  readonly takenAt?: string | undefined;
  readonly size?: number | undefined;
  readonly seconds?: number | undefined;
  readonly version?: string | undefined;
  /** Decimal: it may be larger than numbers are exact. */
  readonly revision?: string | undefined;
  readonly warnings?: readonly string[] | undefined;
  /** The cluster as it was when it was saved. */
  readonly cluster?: SavedCluster | undefined;
}

export interface SavedCluster {
  readonly apiVersion: string;
  readonly spec: Readonly<Record<string, unknown>>;
}
