import { expect } from 'vitest';
import type { EtcdConnection } from '../../src/etcd/client.ts';
import { fieldOf } from '../support/api.ts';
import { backedUp, resourceOf } from '../support/backups.ts';
import { type DeclaredCluster, declared } from '../support/cluster.ts';
import { example, installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { condition, field, inSeconds, waitFor } from '../support/waits.ts';

const name = 'example-etcd-cluster';
const backup = `${name}-backup`;

/** Asks any member. Members are replaced here, so a known member may be gone. */
const askOne = <T>(db: DeclaredCluster, ask: (member: EtcdConnection) => Promise<T>): Promise<T> =>
  until('a member answers', () =>
    db.withMembers(async ([member]) => (member === undefined ? undefined : await ask(member))),
  );

const write = (db: DeclaredCluster, value: string): Promise<unknown> =>
  askOne(db, (member) => member.put('key', value, { timeoutMillis: 2_000 }));

/** All keys, with values and revisions. */
const everything = (db: DeclaredCluster): Promise<readonly string[]> =>
  askOne(db, async (member) =>
    (await member.list({ key: 'key', prefix: true })).map(
      ({ key, value, modRevision }) => `${key}=${Buffer.from(value).toString()} at ${modRevision}`,
    ),
  );

story.asOnTheLab('the example EtcdBackup saves to a PVC, and an EtcdRestore restores from the PVC', async (context) => {
  const { kubectl, step, namespace } = context;
  const db = declared(kubectl, name);
  const restore = (as: string, from: string): Promise<string> => {
    const store = { backupStorageType: 'PVC', pvc: { claimName: 'etcd-backups', path: from } };
    return kubectl('apply -f -', { input: resourceOf('EtcdRestore', as, { etcdCluster: { name }, ...store }) });
  };
  await installOperator(context);
  await db.apply({ size: 3, version: '3.6.16', pod: { antiAffinity: true } }); // one node per member, no spare node
  await db.settled(3);
  const path = await step('the backup is made at once, and its name has revision and date', async () => {
    await write(db, 'good');
    await kubectl('apply -f -', { input: example('etcd-backup.yaml', namespace) });
    const { lastBackup, etcdRevision } = await backedUp(kubectl, backup);
    const url = decodeURIComponent(lastBackup?.url ?? '');
    expect(url).toMatch(
      new RegExp(`^file://etcd-backups/${name}_v${etcdRevision}_\\d{4}-\\d\\d-\\d\\d-\\d\\d:\\d\\d:\\d\\d$`),
    );
    return url.replace('file://etcd-backups/', '');
  });
  const before = await everything(db);
  await write(db, 'bad');
  await step('a restore from a wrong path fails, and the cluster is unchanged', async () => {
    const ids = await db.ids();
    await restore('nowhere', name);
    await waitFor(kubectl, 'etcdrestore/nowhere', inSeconds(120, condition('Succeeded', 'False')));
    expect(await fieldOf(kubectl, 'etcdrestore/nowhere', '.status.reason')).toContain(
      `was not changed: cannot read object "${name}" in volume "etcd-backups"`,
    );
    expect(await db.ids()).toEqual(ids);
  });
  await step('a restore from the path in the backup status restores all keys', async () => {
    await restore(name, path);
    await waitFor(kubectl, `etcdrestore/${name}`, inSeconds(240, field('.status.succeeded', true)));
    await db.settled(3);
    expect(await everything(db)).toEqual(before);
    await write(db, 'new');
    const nodes = await kubectl(`get pods -l ${db.label} -o jsonpath={.items[*].spec.nodeName}`);
    expect(new Set(nodes.split(' ')).size).toBe(3);
  });
});
