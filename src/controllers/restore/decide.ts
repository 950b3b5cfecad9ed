import type { ReadRestore } from '../../apis/common/restore-dialect.ts';
import { needsSeedSecrets } from '../../core/restore/certificates.ts';
import type { RestoreWorld } from '../../core/restore/model.ts';
import { planRestore } from '../../core/restore/plan-restore.ts';
import type { RestoreVerdict } from '../../core/restore/step.ts';
import { needsStoreProxy } from '../../core/restore/store-proxy.ts';
import type { RestoreContext } from './context.ts';
import { observeSeedSecrets } from './seed-secrets.ts';
import { observeStoreProxy } from './store-proxy-state.ts';

/**
 * Plans the next step. Facts that cost reads are observed only if the plan depends on them; then the plan is made
 * again.
 */
export async function decide(world: RestoreWorld, read: ReadRestore, context: RestoreContext): Promise<RestoreVerdict> {
  const verdict = planRestore(world);
  const facts = await missingFacts(verdict, { world, read }, context);
  return facts === undefined ? verdict : decide({ ...world, ...facts }, read, context);
}

async function missingFacts(
  verdict: RestoreVerdict,
  { world, read }: { readonly world: RestoreWorld; readonly read: ReadRestore },
  context: RestoreContext,
): Promise<Pick<RestoreWorld, 'seedSecrets' | 'storeProxy'> | undefined> {
  if (needsSeedSecrets(verdict, world)) return { seedSecrets: await observeSeedSecrets(world, context) };
  if (needsStoreProxy(verdict, world)) return { storeProxy: await observeStoreProxy(read, context) };
  return undefined;
}
