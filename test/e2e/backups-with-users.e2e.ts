import { expect } from 'vitest';
import { fieldOf } from '../support/api.ts';
import { applyBackup, backedUp, claimManifest, createSecret, resourceOf } from '../support/backups.ts';
import { declared } from '../support/cluster.ts';
import { installOperator } from '../support/operator.ts';
import { story } from '../support/story.ts';
import { allKeys, writeKeys } from '../support/test-keys.ts';
import { until } from '../support/until.ts';
import { asRoot, credentials, enableAuth, rootUserSecret } from '../support/users.ts';
import { field, waitFor } from '../support/waits.ts';

const version = '3.6.16';
const pvc = { claimName: 'backups', path: 'db' };

story.asOnTheLab('a backup of a cluster with auth is restored into a cluster without auth', async (context) => {
  const { kubectl, step } = context;
  const [db, other] = [declared(kubectl, 'db', { credentials }), declared(kubectl, 'other', { credentials })];
  await installOperator(context);
  await step('one cluster has auth enabled, the other has not', async () => {
    await kubectl('apply -f -', { input: claimManifest('backups') });
    await createSecret(kubectl, rootUserSecret.name, rootUserSecret.content);
    await db.apply({ size: 1, version, extra: asRoot });
    await other.apply({ size: 1, version });
    for (const each of [db, other]) await each.settled(1);
    await enableAuth(kubectl, (await db.podNames())[0] ?? '');
    await writeKeys(db, 'good');
  });
  await step(
    'the cluster with auth is saved as the user in its spec; the overwritten backup is a warning',
    async () => {
      await applyBackup(kubectl, 'theirs', { etcdCluster: { name: 'other' }, storageType: 'PVC', pvc });
      await backedUp(kubectl, 'theirs');
      await applyBackup(kubectl, 'saved', { etcdCluster: { name: 'db' }, storageType: 'PVC', pvc });
      const warnings = [expect.stringContaining('"db" was a backup of EtcdCluster "other"')];
      expect(await backedUp(kubectl, 'saved')).toMatchObject({ etcdRevision: 21, etcdVersion: version, warnings });
    },
  );
  await step(
    'the restore reports that the other cluster names no user, and the cluster keeps its members',
    async () => {
      const ids = await other.ids();
      const spec = { etcdCluster: { name: 'other' }, backupStorageType: 'PVC', pvc };
      await kubectl('apply -f -', { input: resourceOf('EtcdRestore', 'into-other', spec) });
      const message = 'refuses the operator: etcd auth is enabled, but the operator has no user: set spec.auth';
      await until('the missing user is reported', async () => {
        const reason = await fieldOf(kubectl, 'etcdrestore/into-other', '.status.reason');
        return reason.includes(message) || undefined;
      });
      expect(await other.ids()).toEqual(ids);
    },
  );
  await step('once the spec names a user, the restore succeeds', async () => {
    await kubectl(`patch etcdcluster other --type=merge -p '${JSON.stringify({ spec: asRoot })}'`);
    await waitFor(kubectl, 'etcdrestore/into-other', field('.status.succeeded', true));
    await other.settled(1);
    expect(await allKeys(other)).toEqual(await allKeys(db));
    expect(await fieldOf(kubectl, 'etcdrestore/into-other', '.status.reason')).toBe('');
  });
});
