import type { ClusterWorld } from './cluster.ts';
import type { MemberName } from './names.ts';

/** An alarm that etcd has raised. `by` is undefined if the member has been removed since. */
export interface MemberAlarm {
  readonly kind: string;
  readonly by: MemberName | undefined;
}

/** All raised alarms. The answer of a single member contains the alarms of all members. */
export function alarmsIn({ membership }: Pick<ClusterWorld, 'membership'>): readonly MemberAlarm[] {
  const { members = [], leftAlarms = [] } = (membership.seen ? membership.value : membership.unconfirmed) ?? {};
  return [
    ...members.flatMap(({ name, alarms = [] }) => alarms.map((kind) => ({ kind, by: name }))),
    ...leftAlarms.map((kind) => ({ kind, by: undefined })),
  ];
}

/** True if etcd has found that members differ in their data. */
export const isCorrupt = (world: Pick<ClusterWorld, 'membership'>): boolean =>
  alarmsIn(world).some(({ kind }) => kind === 'CORRUPT');

/** True if no member has reported its alarms yet. */
export const areAlarmsUnknown = ({ membership }: Pick<ClusterWorld, 'membership'>): boolean =>
  membership.seen && membership.value.areAlarmsUnknown === true;

/** The alarms and the members that raised them: `NOSPACE (db-0, db-2)`. */
export function alarmNames(alarms: readonly MemberAlarm[]): string {
  const kinds = [...new Set(alarms.map(({ kind }) => kind))].toSorted();
  return kinds.map((kind) => `${kind} (${raisedBy(alarms.filter((alarm) => alarm.kind === kind))})`).join(', ');
}

const raisedBy = (alarms: readonly MemberAlarm[]): string =>
  [...new Set(alarms.map(({ by }) => by ?? 'a member that was removed'))].toSorted().join(', ');

/** A message with the alarms, their effect on clients and the remedy. */
export function alarmMessage(alarms: readonly MemberAlarm[]): string {
  const meaning = alarms.some(({ kind }) => kind === 'CORRUPT') ? corrupt : noSpace;
  return `etcd has raised the alarm ${alarmNames(alarms)}: ${meaning}`;
}

const disarm = 'disarm it (etcdctl alarm disarm)';

const noSpace =
  'the database quota is used up, and writes are refused; compact and defragment etcd, or raise quotaBackendBytes, ' +
  `then ${disarm}`;

const corrupt =
  'members differ in their data; no member is rolled, replaced, added or removed. Restore a backup; or remove the corrupt ' +
  `member (etcdctl member remove), then ${disarm}: the operator adds a replacement`;
