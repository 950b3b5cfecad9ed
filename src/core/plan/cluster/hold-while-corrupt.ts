import { alarmsIn, isCorrupt, sentenceOnAlarms } from '../../model/alarms.ts';
import { type Rule, wait } from './step.ts';

/**
 * While the alarm CORRUPT stands, members differ in their data, and etcd does not know which of them is right. So no member is
 * rolled, replaced, added, promoted or removed, no leadership is moved for it, and no volume is deleted. A dead member is not
 * replaced either: its successor would copy the data of the leader, which may be the wrong one, and the volume that is
 * discarded may hold the right data. Only a lost pod comes back on its own volume, by a rule above: that changes no data and
 * no membership.
 */
export const holdWhileCorrupt: Rule = (world) =>
  isCorrupt(world) ? wait('AlarmRaised', sentenceOnAlarms(alarmsIn(world))) : undefined;
