import { describe, expect, it } from 'vitest';
import { seed, stepIn, world } from '../../../test/support/restore-worlds.ts';
import { needsSeedSecrets } from './certificates.ts';
import type { RestorePhase, RestoreWorld } from './model.ts';
import { planRestore } from './plan-restore.ts';

const issued = { due: 'nothing', isStaged: true } as const;

/** A restore that creates a cluster with managed certificates, with a seed that starts. */
function creating(certificates: RestoreWorld['certificates'], phase: RestorePhase = 'seeding'): RestoreWorld {
  const cluster = { isThere: phase !== 'seeding', seed: { ...seed, state: 'starting' as const, clusterId: undefined } };
  const usual = world(phase, { cluster });
  return { ...usual, intent: { ...usual.intent, into: 'new' }, certificates };
}

describe('the certificates of a cluster that a restore creates', () => {
  it('are issued, then stored for members, before the restore waits for its seed', () => {
    expect(stepIn(creating({ due: 'authorities', isStaged: false }))).toBe('issue-certificates');
    expect(stepIn(creating({ due: 'nothing', isStaged: false }))).toBe('stage-certificates');
    expect(planRestore(creating(issued))).toMatchObject({ is: 'wait' });
  });

  it('are not issued before the seed exists, or for a cluster that existed', () => {
    const due = { due: 'authorities', isStaged: false } as const;
    const { cluster, intent, ...rest } = creating(due);
    expect(stepIn({ ...rest, intent, cluster: { ...(cluster as object), seed: undefined } as never })).toBe(
      'start-seed',
    );
    expect(planRestore({ ...rest, cluster, intent: { ...intent, into: 'existing' } })).toMatchObject({ is: 'wait' });
  });

  it('are transferred from the seed to the EtcdCluster', () => {
    const seedSecrets = [{ name: 'db-member-tls', uid: 't' }];
    const verdict = planRestore({ ...creating('not owned', 'switching'), seedSecrets });
    expect(verdict).toMatchObject({ is: 'act', step: { kind: 'transfer-secrets', secrets: seedSecrets } });
  });

  it('are looked for at the seed only if the EtcdCluster exists and does not own them', () => {
    const isNeeded = (of: RestoreWorld): boolean => needsSeedSecrets(planRestore(of), of);
    expect(isNeeded(creating('not owned', 'switching'))).toBe(true);
    expect(isNeeded(creating('not owned', 'seeding'))).toBe(false);
    expect(isNeeded(creating(issued, 'switching'))).toBe(false);
    expect(isNeeded({ ...creating('not owned', 'switching'), seedSecrets: [] })).toBe(false);
    expect(isNeeded(world('switching'))).toBe(false);
  });
});
