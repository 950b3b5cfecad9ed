import { expect } from 'vitest';
import { patch } from '../support/api.ts';
import { declared } from '../support/cluster.ts';
import { degradedWith } from '../support/conditions.ts';
import { installOperator } from '../support/operator.ts';
import { certificatesServed } from '../support/served-certificates.ts';
import { story } from '../support/story.ts';
import { certificatesFor, clientAccessIn, tlsOf, waitForSoleCa } from '../support/tls-cluster.ts';
import { until } from '../support/until.ts';

/** The life of a certificate: the roll-out to the members takes some seconds. */
const lifeMillis = 30_000;

story.asOnTheLab('members with expired certificates recover with certificates of a new CA', async (context) => {
  const { kubectl, step, namespace } = context;
  const db = declared(kubectl, 'db', () => clientAccessIn(kubectl, 'db-member-tls', 'etcd-client'));
  await installOperator(context);
  const old = await certificatesFor(kubectl, { name: 'db', namespace });
  await step('three members serve', async () => {
    await old.write();
    await db.apply({ size: 3, version: '3.6.16', durable: true, extra: { TLS: tlsOf('db', ['peer', 'client']) } });
    await db.settled(3);
    await db.withMembers((all) => Promise.any(all.map((member) => member.put('before', 'they expired'))));
  });
  const members = await db.ids();
  await step('the members get short-lived certificates of the same CA', async () => {
    const now = Date.now();
    const valid = { notBefore: new Date(now - 3_600_000), notAfter: new Date(now + lifeMillis) };
    const [peer, server] = [await old.issue('peer', { valid }), await old.issue('server', { valid })];
    await old.writeOne('peer', peer);
    await old.writeOne('server', server);
    await old.writeOne('etcd-client', await old.issue('etcd-client', { valid }));
    await patch(kubectl, db.resource, { spec: { replaceMemberAfterSeconds: 299 } }); // makes the operator read Secrets at once
    await until('the member Secret has the new certificate', async () => {
      const kept = await clientAccessIn(kubectl, 'db-member-tls', 'peer');
      return kept.tls.cert === peer.certificate || undefined;
    });
    await certificatesServed(kubectl, { peer: peer.certificate, server: server.certificate });
  });
  await step('the certificates expire, the status reports it, and a deleted pod does not rejoin', async () => {
    await degradedWith(db, 'expired on', 180);
    const [first = ''] = await db.podNames();
    await kubectl(`delete pod ${first}`);
  });
  await step('with certificates of a new CA all members return with their data', async () => {
    const others = await certificatesFor(kubectl, { name: 'db', namespace });
    await others.write();
    await waitForSoleCa(kubectl, others);
    await db.settled(3);
    expect(await db.ids()).toEqual(members);
    const pair = await until('a member answers', () =>
      db.withMembers(([member]) => member?.get('before') ?? Promise.resolve(undefined)),
    );
    expect(Buffer.from(pair.value).toString()).toBe('they expired');
  });
});
