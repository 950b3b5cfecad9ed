import { expect } from 'vitest';
import { patch } from '../support/api.ts';
import { declared } from '../support/cluster.ts';
import { toldOf } from '../support/conditions.ts';
import { installOperator } from '../support/operator.ts';
import { showing } from '../support/shown.ts';
import { story } from '../support/story.ts';
import { believedAlone, certificatesFor, entryIn, tlsOf } from '../support/tls-cluster.ts';
import { until } from '../support/until.ts';

/** Long enough for members to be given certificates that are going to expire, which takes some seconds. */
const lifeMillis = 30_000;

story.asOnTheLab('certificates expire, and only then those of another authority come', async (told) => {
  const { kubectl, step, namespace } = told;
  const db = declared(kubectl, 'db', () => entryIn(kubectl, 'db-member-tls', 'etcd-client'));
  await installOperator(told);
  const old = await certificatesFor(kubectl, { name: 'db', namespace });
  await step('three members serve', async () => {
    await old.write();
    await db.apply({ size: 3, version: '3.6.16', durable: true, extra: { TLS: tlsOf('db', ['peer', 'client']) } });
    await db.settled(3);
    await db.withMembers((all) => Promise.any(all.map((member) => member.put('before', 'they expired'))));
  });
  const members = await db.ids();
  await step('they are given certificates of the same authority that do not last', async () => {
    const now = Date.now();
    const valid = { notBefore: new Date(now - 3_600_000), notAfter: new Date(now + lifeMillis) };
    const [peer, server] = [await old.issue('peer', { valid }), await old.issue('server', { valid })];
    await old.writeOne('peer', peer);
    await old.writeOne('server', server);
    await old.writeOne('etcd-client', await old.issue('etcd-client', { valid }));
    await patch(kubectl, db.resource, { spec: { replaceMemberAfterSeconds: 299 } }); // has Secrets read at once
    await until('they are kept for members', async () => {
      const kept = await entryIn(kubectl, 'db-member-tls', 'peer');
      return kept.tls.cert === peer.certificate || undefined;
    });
    await showing(kubectl, { peer: peer.certificate, server: server.certificate });
  });
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
