import type { Member } from '../../model/cluster.ts';
import { isSameVersion } from '../../model/version.ts';
import { nextHop } from './outdated.ts';
import { type Rule, wait } from './step.ts';

/** No upgrade is begun while etcd itself says that something is wrong with its data; one that has begun is brought to its end. */
export const waitForAlarms: Rule = (world) => {
  const members = world.membership.seen ? world.membership.value.members : [];
  const to = nextHop(world)?.version;
  if (to === undefined || members.some(({ version }) => isSameVersion(version, to))) return undefined;
  const alarms = new Set(members.flatMap(({ alarms: raised = [] }: Member) => raised));
  if (alarms.size === 0) return undefined;
  const cure = alarms.has('CORRUPT') ? corrupt : noSpace;
  return wait('AlarmRaised', `etcd has raised the alarm ${[...alarms].join(', ')}, and is not moved to ${to}: ${cure}`);
};

/** A larger quota comes with a new pod, and whoever gets one gets the new version with it: so the version has to wait. */
const noSpace =
  'compact and defragment it, or set spec.version back and raise quotaBackendBytes, and then disarm it (etcdctl alarm disarm)';
const corrupt =
  'members differ in their data; restore a backup, or find out which of them is right, and then disarm it';
