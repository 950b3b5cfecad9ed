import { expect } from 'vitest';
import { shown } from '../support/api.ts';
import { applyBackup, backedUp, claimManifest, createSecret, resourceOf } from '../support/backups.ts';
import { declared } from '../support/cluster.ts';
import { installOperator } from '../support/operator.ts';
import { everything, write } from '../support/restored.ts';
import { story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { asRoot, credentials, switchAuthOn, usersSecret } from '../support/users.ts';
import { field, waitFor } from '../support/waits.ts';

const version = '3.6.16';
const pvc = { claimName: 'backups', path: 'db' };

story.asOnTheLab('a cluster with users is saved, and another that knew of none becomes what it was', async (told) => {
  const { kubectl, step } = told;
  const [db, other] = [declared(kubectl, 'db', { credentials }), declared(kubectl, 'other', { credentials })];
  await installOperator(told);
  await step('one has users, the other has not', async () => {
    await kubectl('apply -f -', { input: claimManifest('backups') });
    await createSecret(kubectl, usersSecret.name, usersSecret.content);
    await db.apply({ size: 1, version, extra: asRoot });
    await other.apply({ size: 1, version });
    for (const each of [db, other]) await each.settled(1);
    await switchAuthOn(kubectl, (await db.podNames())[0] ?? '');
    await write(db, 'good');
  });
  await step(
    'the first is saved, as the user that its spec names, and that it took the place of another is told',
    async () => {
      await applyBackup(kubectl, 'theirs', { etcdCluster: { name: 'other' }, storageType: 'PVC', pvc });
      await backedUp(kubectl, 'theirs');
      await applyBackup(kubectl, 'saved', { etcdCluster: { name: 'db' }, storageType: 'PVC', pvc });
      const warnings = [expect.stringContaining('"db" was a backup of EtcdCluster "other"')];
      expect(await backedUp(kubectl, 'saved')).toMatchObject({ etcdRevision: 21, etcdVersion: version, warnings });
    },
  );
  await step(
    'restored into the other, it is told that nobody has named a user there, and that one goes on',
    async () => {
      const ids = await other.ids();
      const spec = { etcdCluster: { name: 'other' }, backupStorageType: 'PVC', pvc };
      await kubectl('apply -f -', { input: resourceOf('EtcdRestore', 'into-other', spec) });
      const says =
        "does not let the operator in: etcd has users, and the operator is none of them: set the cluster's spec.auth";
      await until('it is told', async () => {
        const reason = await shown(kubectl, 'etcdrestore/into-other', '.status.reason');
        return reason.includes(says) || undefined;
      });
      expect(await other.ids()).toEqual(ids);
    },
  );
  await step('as soon as one is named, it is over', async () => {
    await kubectl(`patch etcdcluster other --type=merge -p '${JSON.stringify({ spec: asRoot })}'`);
    await waitFor(kubectl, 'etcdrestore/into-other', field('.status.succeeded', true));
    await other.settled(1);
    expect(await everything(other)).toEqual(await everything(db));
    expect(await shown(kubectl, 'etcdrestore/into-other', '.status.reason')).toBe('');
  });
});
