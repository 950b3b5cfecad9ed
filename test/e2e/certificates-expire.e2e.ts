import { expect } from 'vitest';
import { declared } from '../support/cluster.ts';
import { toldOf } from '../support/conditions.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { believedAlone, certificatesFor, entryIn, secretFiles, tlsOf } from '../support/tls-cluster.ts';
import { until } from '../support/until.ts';

/** Bootstrap takes some seconds, and a minute on a machine that is busy with other stories. */
const lifeMillis = 100_000;

story.asOnTheLab('certificates expire, and only then those of another authority come', async (told) => {
  const { kubectl, step, namespace } = told;
  const db = declared(kubectl, 'db', () => entryIn(kubectl, 'db-member-tls', 'etcd-client'));
  await installOperator(told);
  await step('three members are founded with certificates that do not last', async () => {
    const old = await certificatesFor(kubectl, { name: 'db', namespace });
    const now = Date.now();
    const valid = { notBefore: new Date(now - 3_600_000), notAfter: new Date(now + lifeMillis) };
    for (const file of secretFiles) await old.writeOne(file, await old.issue(file, { valid }));
    await db.apply({ size: 3, version: '3.6.16', durable: true, extra: { TLS: tlsOf('db', ['peer', 'client']) } });
    await db.settled(3);
    await db.withMembers((all) => Promise.any(all.map((member) => member.put('before', 'they expired'))));
  });
  const members = await db.ids();
  await step('they expire, which is told, and one that is stopped does not come back', async () => {
    await toldOf(db, 'expired on', 180);
    const [first = ''] = await db.podNames();
    await kubectl(`delete pod ${first}`);
  });
  await step('others come, of an authority that nobody knows yet: members come back with their data', async () => {
    const others = await certificatesFor(kubectl, { name: 'db', namespace });
    await others.write();
    await believedAlone(kubectl, others);
    await db.settled(3);
    expect(await db.ids()).toEqual(members);
    const pair = await until('it answers', () =>
      db.withMembers(([member]) => member?.get('before') ?? Promise.resolve(undefined)),
    );
    expect(Buffer.from(pair.value).toString()).toBe('they expired');
  });
});
