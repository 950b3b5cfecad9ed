import { holders } from '../../core/certificates/bundle.ts';
import { ownSecretsOf } from '../../core/certificates/names.ts';
import type { Step } from '../../core/plan/cluster/step.ts';
import type { ReadCluster } from '../../dialects/dialect.ts';
import { keyOf } from '../../kube/object.ts';
import { secrets } from '../../kube/resource.ts';
import { unless } from '../../std/failure.ts';
import type { Deed } from './deed.ts';
import { type OwnSecret, readOwnSecret } from './kept-secrets.ts';
import type { Security } from './security.ts';
import type { Tools } from './sources.ts';

type Looking = Pick<Tools, 'client' | 'keepsSecrets' | 'dropsSecrets' | 'tidied'>;

/** To delete what is left can wait: a Secret that cannot be read is no reason to break off a pass. */
export const leftSecrets = (...looking: Parameters<typeof findLeft>): Promise<readonly string[]> =>
  findLeft(...looking).catch(() => []);

/**
 * Our Secrets that are still there although neither the spec nor any member speaks of them. Secrets cannot be watched, so it
 * is noted when there are none: they are looked for once, and again when others are needed no more.
 */
async function findLeft(
  { blueprint, memory, managedCertificates }: ReadCluster,
  { idle }: Pick<Security, 'idle'>,
  tools: Looking,
): Promise<readonly string[]> {
  if (!tools.keepsSecrets || !tools.dropsSecrets || memory.clusterId === undefined) return [];
  const { name, uid } = blueprint.intent;
  const key = keyOf(blueprint.intent);
  const { members, issued, clients } = ownSecretsOf(name);
  const isPlain = idle.length === holders.length;
  const needless = [...(managedCertificates === undefined ? [clients, issued] : []), ...(isPlain ? [members] : [])];
  const looked = [uid, ...needless].join();
  if (tools.tidied.get(key) === looked) return [];
  const found = await Promise.all(needless.map((each) => readOwnSecret(each, blueprint, tools)));
  const left = found.flatMap((each) => (isThere(each) ? each.name : []));
  if (left.length === 0) tools.tidied.set(key, looked);
  return left;
}

const isThere = (found: OwnSecret | 'foreign'): found is OwnSecret => found !== 'foreign' && found.stored !== undefined;

/** What was made again under the same name meanwhile is left alone. */
export async function dropSecrets({ names }: Extract<Step, { kind: 'drop-secrets' }>, deed: Deed): Promise<void> {
  const { blueprint, tools, writer, signal } = deed;
  const { namespace } = blueprint.intent;
  for (const name of names) {
    const found = await readOwnSecret(name, blueprint, tools);
    if (found === 'foreign' || found.stored === undefined) continue;
    const { uid, resourceVersion } = found.stored.metadata;
    const preconditions = { uid, resourceVersion };
    await unless('not-found', writer.remove(secrets, { namespace, name }, { preconditions, signal }), undefined);
  }
}
