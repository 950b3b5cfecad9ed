import type { RestoreWorld } from './model.ts';
import { act, type RestoreVerdict } from './step.ts';

/**
 * Issues the certificates of a cluster that a restore creates, before its EtcdCluster exists: the seed needs them to
 * start. Until then the seed pod owns the Secrets, so that they are deleted with it if the restore fails.
 */
export function keepCertificates(verdict: RestoreVerdict, world: RestoreWorld): RestoreVerdict | undefined {
  const { certificates, seedSecrets = [] } = world;
  if (!areKept(verdict, world)) return undefined;
  if (seedSecrets.length > 0)
    return act(
      { kind: 'transfer-secrets', secrets: seedSecrets },
      'transferring the certificate Secrets to the cluster',
    );
  if (certificates === undefined || certificates === 'not owned') return undefined;
  const { due, isStaged } = certificates;
  if (due !== 'nothing') return act({ kind: 'issue-certificates', due }, 'issuing certificates');
  return isStaged ? undefined : act({ kind: 'stage-certificates' }, 'storing certificates in the member Secret');
}

/** True if the seed may own the Secrets of its EtcdCluster, and they have not been observed in this pass. */
export const needsSeedSecrets = (verdict: RestoreVerdict, world: RestoreWorld): boolean =>
  world.seedSecrets === undefined &&
  world.certificates === 'not owned' &&
  typeof world.cluster !== 'string' &&
  world.cluster.isThere &&
  areKept(verdict, world);

/** True from the start of the seed pod until the cluster grows. A change of phase is recorded first. */
function areKept({ is }: RestoreVerdict, { intent, memory: { phase }, cluster, certificates }: RestoreWorld): boolean {
  if (certificates === undefined || intent.into !== 'new' || is === 'enter') return false;
  return (phase === 'seeding' || phase === 'switching') && typeof cluster !== 'string' && cluster.seed !== undefined;
}
