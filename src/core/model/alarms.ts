import type { ClusterWorld } from './cluster.ts';
import type { CarrierName } from './names.ts';

/** An alarm that etcd has raised. Without a member, it was raised by one that was removed since. */
export interface Alarm {
  readonly kind: string;
  readonly by: CarrierName | undefined;
}

/** All alarms that stand. A single member that answers is enough to know of them. */
export function alarmsIn({ membership }: Pick<ClusterWorld, 'membership'>): readonly Alarm[] {
  const { members = [], leftAlarms = [] } = (membership.seen ? membership.value : membership.rumour) ?? {};
  return [
    ...members.flatMap(({ name, alarms = [] }) => alarms.map((kind) => ({ kind, by: name }))),
    ...leftAlarms.map((kind) => ({ kind, by: undefined })),
  ];
}

/** Whether etcd has found that members differ in their data. */
export const isCorrupt = (world: Pick<ClusterWorld, 'membership'>): boolean =>
  alarmsIn(world).some(({ kind }) => kind === 'CORRUPT');

/** Whether no member has answered yet which alarms stand. */
export const areAlarmsUnknown = ({ membership }: Pick<ClusterWorld, 'membership'>): boolean =>
  membership.seen && membership.value.areAlarmsUnknown === true;

/** The alarms and the members that raised them: `NOSPACE (db-0, db-2)`. */
export function namesOfAlarms(alarms: readonly Alarm[]): string {
  const kinds = [...new Set(alarms.map(({ kind }) => kind))].toSorted();
  return kinds.map((kind) => `${kind} (${raisedBy(alarms.filter((alarm) => alarm.kind === kind))})`).join(', ');
}

const raisedBy = (alarms: readonly Alarm[]): string =>
  [...new Set(alarms.map(({ by }) => by ?? 'a member that was removed'))].toSorted().join(', ');

/** What the alarms mean for clients, and what to do about them. */
export function sentenceOnAlarms(alarms: readonly Alarm[]): string {
  const meaning = alarms.some(({ kind }) => kind === 'CORRUPT') ? corrupt : noSpace;
  return `etcd has raised the alarm ${namesOfAlarms(alarms)}: ${meaning}`;
}

const disarm = 'disarm it (etcdctl alarm disarm)';

const noSpace =
  'the quota of its database is used up, and writes are refused; compact and defragment it, or raise quotaBackendBytes, ' +
  `then ${disarm}`;

const corrupt =
  'members differ in their data; no member is rolled, replaced, added or removed. Restore a backup; or find the member that ' +
  `is wrong, remove it (etcdctl member remove), then ${disarm}: another member takes its place`;
