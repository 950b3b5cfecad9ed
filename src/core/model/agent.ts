/** A pod that does one thing for a backup or a restore, and then ends. */
export interface Agent {
  readonly name: string;
  readonly uid: string;
  /** The time for which it was started, in milliseconds: no two agents of one resource share it. */
  readonly slot: number;
  readonly createdAt: number;
  readonly state: AgentState;
}

export type AgentState =
  /** `why` it has not started yet, where that is known. */
  | { readonly is: 'starting'; readonly why: string }
  | { readonly is: 'running' }
  | { readonly is: 'ended'; readonly report: AgentReport };

/** What an agent left behind. */
export interface AgentReport {
  readonly ok: boolean;
  readonly message: string;
  readonly facts: AgentFacts;
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
}
