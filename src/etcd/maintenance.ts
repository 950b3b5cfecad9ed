import type { Caller, CallOptions } from './call.ts';
import { AlarmRequest_AlarmAction, AlarmType, DowngradeRequest_DowngradeAction, Maintenance } from './gen/etcd_pb.ts';
import { snapshotOf } from './snapshot.ts';
import {
  type Alarm,
  type AlarmKind,
  alarmKindOf,
  headerOf,
  type KeyValueHash,
  type MemberId,
  type MemberStatus,
  memberStatusOf,
} from './types.ts';

/** The maintenance API. It concerns the called member; only alarms and downgrades concern the whole cluster. */
export interface MaintenanceOfMember {
  readonly status: (options?: CallOptions) => Promise<MemberStatus>;
  readonly alarms: (options?: CallOptions) => Promise<readonly Alarm[]>;
  /** Returns the disarmed alarms. Takes an ID, because an alarm outlives its member. */
  readonly disarm: (
    memberId: MemberId,
    kind: Exclude<AlarmKind, 'unknown'>,
    options?: CallOptions,
  ) => Promise<readonly Alarm[]>;
  /** Blocks the member for up to minutes. A time-out of this client does not stop it. */
  readonly defragment: (options?: CallOptions) => Promise<void>;
  /** Since 3.3. Members with the same history have the same hash at the same revision. */
  readonly hashKV: (options?: CallOptions & { readonly revision?: bigint }) => Promise<KeyValueHash>;
  /** Since 3.3. Must be sent to the leader. */
  readonly moveLeader: (to: MemberId, options?: CallOptions) => Promise<void>;
  /** Usable since 3.6. Returns the cluster version. */
  readonly downgrade: (
    action: 'validate' | 'enable' | 'cancel',
    version: string,
    options?: CallOptions,
  ) => Promise<string>;
  /**
   * The whole database file, followed by its SHA-256 (32 bytes). Fails after the last part if the hash does not match.
   * The time-out applies to each part.
   */
  readonly snapshot: (options?: CallOptions) => AsyncIterable<Uint8Array>;
}

const defragmentMillis = 600_000;

export function maintenanceOf(caller: Caller): MaintenanceOfMember {
  const { status, alarm, defragment, hashKV, moveLeader, downgrade } = Maintenance.method;
  return {
    status: async (options) => memberStatusOf(await caller.ask(status, {}, options)),
    alarms: async (options) => alarmsIn(await caller.ask(alarm, { action: AlarmRequest_AlarmAction.GET }, options)),
    disarm: async (memberId, kind, options) => {
      const type = kind === 'corrupt' ? AlarmType.CORRUPT : AlarmType.NOSPACE;
      const request = { action: AlarmRequest_AlarmAction.DEACTIVATE, memberId, alarm: type };
      return alarmsIn(await caller.ask(alarm, request, options));
    },
    defragment: async (options) => {
      await caller.ask(defragment, {}, { timeoutMillis: defragmentMillis, ...options });
    },
    hashKV: async ({ revision = 0n, ...options } = {}) => {
      const answer = await caller.ask(hashKV, { revision }, options);
      const { hash, compactRevision, hashRevision = headerOf(answer).revision } = answer;
      return { hash, compactRevision, revision: revision === 0n ? hashRevision : revision };
    },
    moveLeader: async (to, options) => {
      await caller.ask(moveLeader, { targetId: to }, options);
    },
    downgrade: async (action, version, options) =>
      (await caller.ask(downgrade, { action: downgradeActions[action], version }, options)).version,
    snapshot: (options) => snapshotOf(caller, options),
  };
}

const downgradeActions = {
  validate: DowngradeRequest_DowngradeAction.VALIDATE,
  enable: DowngradeRequest_DowngradeAction.ENABLE,
  cancel: DowngradeRequest_DowngradeAction.CANCEL,
};

const alarmsIn = (answer: {
  readonly alarms: readonly { readonly memberId: bigint; readonly alarm: AlarmType }[];
}): readonly Alarm[] =>
  answer.alarms.slice(0, 256).map((entry) => ({ memberId: entry.memberId, kind: alarmKindOf(entry.alarm) }));
