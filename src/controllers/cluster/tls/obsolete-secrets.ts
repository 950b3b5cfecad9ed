import type { ReadCluster } from '../../../apis/common/dialect.ts';
import { holders } from '../../../core/pki/bundle.ts';
import { ownSecretsOf } from '../../../core/pki/names.ts';
import { keyOf } from '../../../kube/object.ts';
import type { ControllerContext } from '../../shared/context.ts';
import { type OwnSecret, readOwnSecret } from './managed-secret.ts';
import type { Security } from './tls-state.ts';

type SecretsContext = Pick<ControllerContext, 'client' | 'mayWriteSecrets' | 'mayDeleteSecrets' | 'absentSecrets'>;

/** Returns no Secrets if one cannot be read: their deletion is not urgent, and must not fail the pass. */
export const obsoleteSecrets = (...args: Parameters<typeof findObsolete>): Promise<readonly string[]> =>
  findObsolete(...args).catch(() => []);

/**
 * Managed Secrets that neither the spec nor a member uses any more. Secrets cannot be watched, so their absence is
 * noted. The search is repeated when another Secret becomes obsolete.
 */
async function findObsolete(
  { blueprint, memory, managedCertificates }: ReadCluster,
  { idle }: Pick<Security, 'idle'>,
  context: SecretsContext,
): Promise<readonly string[]> {
  if (!context.mayWriteSecrets || !context.mayDeleteSecrets || memory.clusterId === undefined) return [];
  const { name, uid } = blueprint.intent;
  const key = keyOf(blueprint.intent);
  const { members, issued, clients } = ownSecretsOf(name);
  const isPlain = idle.length === holders.length;
  const obsolete = [...(managedCertificates === undefined ? [clients, issued] : []), ...(isPlain ? [members] : [])];
  const signature = [uid, ...obsolete].join();
  if (context.absentSecrets.get(key) === signature) return [];
  const found = await Promise.all(obsolete.map((each) => readOwnSecret(each, blueprint, context)));
  const left = found.flatMap((each) => (isThere(each) ? each.name : []));
  if (left.length === 0) context.absentSecrets.set(key, signature);
  return left;
}

const isThere = (found: OwnSecret | 'foreign'): found is OwnSecret => found !== 'foreign' && found.stored !== undefined;
