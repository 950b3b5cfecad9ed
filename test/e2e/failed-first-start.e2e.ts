import { declared } from '../support/cluster.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { HandMadeVolumes } from '../support/volumes.ts';
import { condition, field, inSeconds, waitFor } from '../support/waits.ts';

const version = '3.5.35';

/** The data directory of an etcd that was killed during its first start: a truncated database and no WAL. */
const halfWritten = 'mkdir -p data/member/snap data/member/wal.tmp; head -c 5000 /dev/urandom > data/member/snap/db';

story.onOurCluster(
  'a member with a half-written data directory of a killed first start is replaced',
  async (context) => {
    const { kubectl, step, nodes } = context;
    const db = declared(kubectl);
    const [first = '', second = '', third = ''] = nodes.names;
    await using volumes = new HandMadeVolumes(context);
    await installOperator(context);
    await step('five volumes: one is too small, one has a half-written data directory', async () => {
      for (const [i, node] of [first, second, third].entries())
        await volumes.provide({ name: `good-${i}`, node, megabytes: 400 });
      await volumes.provide({ name: 'full', node: second, megabytes: 100 }); // etcd lays out two logs of 64 MB each
      await volumes.provide({ name: 'half', node: third, megabytes: 400, prepare: halfWritten });
    });
    await step('three members serve, and Events quote the etcd errors of the others', async () => {
      const claim = { storageClassName: volumes.storageClass, accessModes: ['ReadWriteOnce'] };
      const persistentVolumeClaimSpec = { ...claim, resources: { requests: { storage: '64Mi' } } };
      await db.apply({
        size: 5,
        version,
        extra: { replaceMemberAfterSeconds: 30 },
        pod: { persistentVolumeClaimSpec },
      });
      await waitFor(kubectl, 'etcdcluster/db', inSeconds(120, field('.status.readyMembers', 3)));
      await waitFor(kubectl, 'etcdcluster/db', inSeconds(120, condition('Degraded')));
      await until('an Event with the etcd error', async () => {
        const messages = await kubectl(
          'get events --field-selector reason=MemberStuck -o jsonpath={.items[*].message}',
        );
        return /ended with \d+ .{0,99}(?:no space left on device|file size too small)/.test(messages) || undefined;
      });
    });
    await underTraffic(db, async () => {
      await step('both members are replaced once spare volumes exist', async () => {
        for (const [i, node] of [first, second].entries())
          await volumes.provide({ name: `spare-${i}`, node, megabytes: 400 });
        await db.settled(5, 180);
      });
    });
    await kubectl('delete etcdcluster db --cascade=foreground'); // before its volumes are removed
  },
);
