import { alarmsIn, areAlarmsUnknown, isCorrupt, sentenceOnAlarms } from '../../model/alarms.ts';
import { type Rule, wait } from './step.ts';

/**
 * While the alarm CORRUPT stands, members differ in their data, and etcd does not know which of them is right. So no member is
 * rolled, replaced, added, promoted or removed, no leadership is moved for it, and no volume is deleted. A dead member is not
 * replaced either: its successor would copy the data of the leader, which may be the wrong one, and the volume that is
 * discarded may hold the right data. Only a lost pod comes back on its own volume, by a rule above: that changes no data and
 * no membership. The same waits until a member has answered whether the alarm stands.
 */
export const holdWhileCorrupt: Rule = (world) => {
  if (isCorrupt(world)) return wait('AlarmRaised', sentenceOnAlarms(alarmsIn(world)));
  return areAlarmsUnknown(world) ? wait('AlarmsUnknown', unknown) : undefined;
};

const unknown =
  'no member has answered which alarms etcd has raised; no member is rolled, replaced, added or removed before one has';
