import { alarmMessage, alarmsIn, areAlarmsUnknown, isCorrupt } from '../../model/alarms.ts';
import type { KnownWorld } from '../../model/cluster.ts';
import { type Rule, wait } from '../step.ts';

/**
 * While the alarm CORRUPT is raised, members differ in their data, and etcd does not know which data is right. No
 * member is rolled, replaced, added, promoted or removed, no leadership is transferred, and no PVC is deleted. A dead
 * member is not replaced: its replacement would copy the data of the leader, which may be corrupt, and the deleted PVC
 * may hold the right data. Only a lost pod is restarted on its own PVC, by a rule above. The same holds until a member
 * has reported its alarms.
 */
export const holdWhileCorrupt: Rule<KnownWorld> = (world) => {
  if (isCorrupt(world)) return wait('AlarmRaised', alarmMessage(alarmsIn(world)));
  return areAlarmsUnknown(world) ? wait('AlarmsUnknown', unknown) : undefined;
};

const unknown = 'waiting for a member to report its alarms; no member is rolled, replaced, added or removed before';
