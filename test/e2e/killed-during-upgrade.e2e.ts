import { expect } from 'vitest';
import { declared } from '../support/cluster.ts';
import { KilledOperator } from '../support/killed-operator.ts';
import { installOperator, scaleOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { underTraffic } from '../support/traffic.ts';
import { field, inSeconds, waitFor } from '../support/waits.ts';

const version = '3.6.16';

story.asOnTheLab('an operator that is killed at every step of an upgrade completes the upgrade', async (context) => {
  const { kubectl, step } = context;
  const db = declared(kubectl);
  await installOperator(context);
  await db.apply({ size: 3, version: '3.5.35' });
  await db.settled(3);
  await scaleOperator(context, 0);
  await kubectl('delete lease etcd-operator --ignore-not-found');
  const members = await db.ids();
  const operator = new KilledOperator(context, 'always');
  try {
    await underTraffic(db, async () => {
      await step('killed while it upgrades', async () => {
        await kubectl(`patch etcdcluster db --type=merge -p '{"spec":{"version":"${version}"}}'`);
        await waitFor(kubectl, 'etcdcluster/db', inSeconds(300, field('.status.currentVersion', version)));
        await db.settled(3);
      });
    });
    expect(await db.ids()).toEqual(members);
    // The kill takes a moment. A step that begins and ends in that moment has escaped.
    const reached = [...operator.killedAt, ...operator.escaped];
    expect(reached).toEqual(expect.arrayContaining(['taking step: change-image', 'step taken: change-image']));
  } finally {
    await operator.end();
  }
});
