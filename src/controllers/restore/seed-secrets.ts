import { ownSecretsOf } from '../../core/pki/names.ts';
import type { ObjectRef, RestoreWorld } from '../../core/restore/model.ts';
import { secrets } from '../../kube/resource.ts';
import { unless } from '../../std/failure.ts';
import { isOwnedBy } from '../../std/owner.ts';
import type { RestoreContext } from './context.ts';

/** The certificate Secrets of a new cluster that its seed owns. It costs reads of Secrets: see `needsSeedSecrets`. */
export async function observeSeedSecrets(
  { intent, cluster }: RestoreWorld,
  { client }: Pick<RestoreContext, 'client'>,
): Promise<readonly ObjectRef[]> {
  const seed = typeof cluster === 'string' ? undefined : cluster.seed;
  if (seed === undefined) return [];
  const { namespace } = intent;
  const { members, issued } = ownSecretsOf(intent.cluster);
  const reads = [members, issued].map((name) =>
    unless('not-found', client.get(secrets, { namespace, name }), undefined),
  );
  const found = (await Promise.all(reads)).filter((secret) => secret !== undefined);
  return found.filter((secret) => isOwnedBy(secret, seed.uid)).map(({ metadata: { name, uid } }) => ({ name, uid }));
}
