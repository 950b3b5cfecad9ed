import { expect } from 'vitest';
import { declared } from '../support/cluster.ts';
import { degradedWith } from '../support/conditions.ts';
import { guideReader } from '../support/guide-reader.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';

story.asOnTheLab('the disaster runbook restores a cluster without quorum from its survivor', async (context) => {
  const { kubectl, step } = context;
  const db = declared(kubectl);
  using reader = await guideReader(context);
  await installOperator(context);
  await db.apply({ size: 3, version: '3.6.16' });
  await db.settled(3);
  const [first = '', second = '', survivor = ''] = await db.podNames();
  await db.withMembers(async ([member]) => member?.put('key', 'saved'));
  await step('two of three members lose their data', async () => {
    await kubectl(`delete pod ${first} ${second} --grace-period=0 --force`);
    await degradedWith(db, 'restore a backup', 90);
    expect(await db.podNames()).toEqual([survivor]);
  });
  await reader.follow('docs/guide/disaster.md', {
    'Disaster runbook': { after: (conditions) => expect(conditions).toMatch(/^Degraded=True QuorumLost: .*restore/m) },
    'Quorum is lost': { after: (output) => expect(output).toMatch(/^2 \[".*may be missing"\]$/m) },
    'Restore in place': {
      after: async (output) => {
        expect(output).toMatch(/^db +3 /m);
        await db.settled(3);
        const value = await db.withMembers(async ([member]) => member?.list({ key: 'key', prefix: true }));
        expect(value?.map((entry) => Buffer.from(entry.value).toString())).toEqual(['saved']);
      },
    },
    'Members have different data': {
      before: async () => ({ '<member>': (await db.podNames())[0] ?? '' }),
      after: (output) => expect(output.match(/:2379/g)).toHaveLength(3),
    },
  });
});
