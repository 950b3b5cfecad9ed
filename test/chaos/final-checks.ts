import { list } from '../support/api.ts';
import type { DeclaredCluster } from '../support/cluster.ts';
import { until } from '../support/until.ts';
import { liesIn, type ToldStatus } from './truth.ts';

const patientSeconds = 15;

/** The violations that are left after some time: what is asked may be about to become true. */
async function lastViolations(what: string, ask: () => Promise<readonly string[]>): Promise<readonly string[]> {
  let last: readonly string[] = [];
  const areNone = async (): Promise<true | undefined> => {
    last = await ask().catch((thrown: unknown) => [`${what} was not answered: ${String(thrown)}`]);
    return last.length === 0 || undefined;
  };
  await until(what, areNone, { seconds: patientSeconds }).catch(() => undefined);
  return last;
}

/** Compares the status of a settled cluster with etcd. */
export const statusViolations = (db: DeclaredCluster): Promise<readonly string[]> =>
  lastViolations('the status says what etcd says', async () => {
    const [status, members] = [(await db.status()) as ToldStatus, await db.members()];
    const versions = await db.withMembers((all) => Promise.all(all.map(async (each) => (await each.status()).version)));
    return liesIn(status, { members, versions });
  });

/** Compares the hashes of all keys and revisions of all members, at one revision. */
export const hashViolations = async (db: DeclaredCluster, revision: number): Promise<readonly string[]> => {
  if (revision === 0) return ['no member acknowledged a last write'];
  return await lastViolations('all members have one hash', async () => {
    const hashes = await db.withMembers((all) =>
      Promise.all(all.map((member) => member.hashKV({ revision: BigInt(revision) }))),
    );
    const different = new Set(hashes.map(({ hash, compactRevision }) => `${hash} since ${compactRevision}`));
    const members = (await db.members()).length;
    if (hashes.length !== members) return [`${hashes.length} of ${members} members answered`];
    return different.size === 1 ? [] : [`hashes at revision ${revision} differ: ${[...different].join('; ')}`];
  });
};

const kinds = ['pods', 'pvc', 'secrets', 'leases', 'services', 'configmaps', 'poddisruptionbudgets'] as const;

/** The names of all objects of a namespace, without operator pods, which have a new name after each restart. */
export async function inventoryOf(db: Pick<DeclaredCluster, 'namespace'>): Promise<readonly string[]> {
  const found = await Promise.all(
    kinds.map(async (kind) => (await list(db, kind)).map(({ metadata }) => `${kind}/${metadata.name}`)),
  );
  return found.flat().filter((name) => !name.startsWith('pods/etcd-operator-'));
}

/** The objects that a deleted cluster has left behind. */
export const leaksSince = (
  before: readonly string[],
  db: Pick<DeclaredCluster, 'namespace'>,
): Promise<readonly string[]> =>
  lastViolations('nothing is left behind', async () => {
    const after = await inventoryOf(db);
    return after.filter((name) => !before.includes(name)).map((name) => `${name} is left behind`);
  });
