import { alarmNames, alarmsIn } from '../../model/alarms.ts';
import type { KnownWorld } from '../../model/cluster.ts';
import { isSameVersion } from '../../model/version.ts';
import { nextHop } from '../roll/outdated.ts';
import { type Rule, wait } from '../step.ts';

/** Starts no upgrade while an alarm is raised; an upgrade in progress goes on. A rule above stops it under CORRUPT. */
export const waitForAlarms: Rule<KnownWorld> = (world) => {
  const { members } = world.membership.value;
  const to = nextHop(world)?.version;
  if (to === undefined || members.some(({ version }) => isSameVersion(version, to))) return undefined;
  const alarms = alarmsIn(world);
  if (alarms.length === 0) return undefined;
  return wait('AlarmRaised', `upgrade to ${to} blocked: etcd has raised the alarm ${alarmNames(alarms)}: ${cure}`);
};

/** A larger quota needs a new pod, and a new pod gets the new version. So spec.version has to be set back first. */
const cure =
  'the database quota is used up, and writes are refused; compact and defragment etcd, or set spec.version back and raise ' +
  'quotaBackendBytes, then disarm it (etcdctl alarm disarm)';
