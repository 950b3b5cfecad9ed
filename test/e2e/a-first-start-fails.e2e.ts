import { declared } from '../support/cluster.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { until } from '../support/until.ts';
import { HandMadeVolumes } from '../support/volumes.ts';
import { condition, field, inSeconds, waitFor } from '../support/waits.ts';

const version = '3.5.35';

/** What a process leaves behind that is killed while it makes its first files: a database cut short, and no log yet. */
const halfWritten = 'mkdir -p data/member/snap data/member/wal.tmp; head -c 5000 /dev/urandom > data/member/snap/db';

story.onOurCluster('a first start that ends in half a data directory is replaced, not left for good', async (told) => {
  const { kubectl, step, nodes } = told;
  const db = declared(kubectl);
  const [first = '', second = '', third = ''] = nodes.names;
  await using volumes = new HandMadeVolumes(told);
  await installOperator(told);
  await step('five disks, of which one is too small and one was left by a first start that was killed', async () => {
    for (const [i, node] of [first, second, third].entries())
      await volumes.provide({ name: `good-${i}`, node, megabytes: 400 });
    await volumes.provide({ name: 'full', node: second, megabytes: 100 }); // etcd lays out two logs of 64 MB each
    await volumes.provide({ name: 'half', node: third, megabytes: 400, prepare: halfWritten });
  });
  await step('three members serve, and why the others do not is told in their own words', async () => {
    const claim = { storageClassName: volumes.storageClass, accessModes: ['ReadWriteOnce'] };
    const persistentVolumeClaimSpec = { ...claim, resources: { requests: { storage: '64Mi' } } };
    await db.apply({ size: 5, version, extra: { replaceMemberAfterSeconds: 30 }, pod: { persistentVolumeClaimSpec } });
    await waitFor(kubectl, 'etcdcluster/db', inSeconds(120, field('.status.readyMembers', 3)));
    await waitFor(kubectl, 'etcdcluster/db', inSeconds(120, condition('Degraded')));
    await until("etcd's own words", async () => {
      const words = await kubectl('get events --field-selector reason=MemberStuck -o jsonpath={.items[*].message}');
      return /ended with \d+ .{0,99}(?:no space left on device|file size too small)/.test(words) || undefined;
    });
  });
  await underTraffic(db, async () => {
    await step('both are replaced as soon as there are other disks', async () => {
      for (const [i, node] of [first, second].entries())
        await volumes.provide({ name: `spare-${i}`, node, megabytes: 400 });
      await db.settled(5, 180);
    });
  });
  await kubectl('delete etcdcluster db --cascade=foreground'); // before its disks are taken away
});
