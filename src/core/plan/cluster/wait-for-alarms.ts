import { alarmsIn, namesOfAlarms } from '../../model/alarms.ts';
import { isSameVersion } from '../../model/version.ts';
import { nextHop } from './outdated.ts';
import { type Rule, wait } from './step.ts';

/** No upgrade is begun while an alarm is raised; one that has begun is brought to its end. A rule above holds it under CORRUPT. */
export const waitForAlarms: Rule = (world) => {
  const members = world.membership.seen ? world.membership.value.members : [];
  const to = nextHop(world)?.version;
  if (to === undefined || members.some(({ version }) => isSameVersion(version, to))) return undefined;
  const alarms = alarmsIn(world);
  if (alarms.length === 0) return undefined;
  return wait('AlarmRaised', `upgrade to ${to} blocked: etcd has raised the alarm ${namesOfAlarms(alarms)}: ${cure}`);
};

/** A larger quota comes with a new pod, and whoever gets one gets the new version with it: so the version has to wait. */
const cure =
  'the quota of its database is used up, and writes are refused; compact and defragment it, or set spec.version back and raise ' +
  'quotaBackendBytes, then disarm it (etcdctl alarm disarm)';
