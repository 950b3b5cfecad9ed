import { expect, it } from 'vitest';
import { keptIn, ordinalPart, ownedPart, replacedOrdinal } from './restore-scenarios.ts';
import { SimulatedRestore } from './simulated-restore.ts';

const namesOf = ({ objects }: SimulatedRestore, plural: string): readonly string[] =>
  objects
    .all(plural)
    .map(({ metadata: { name } }) => name)
    .filter((name) => !name.includes('-inspect-'));

const ownOfCluster = { pods: ownedPart('db-2'), persistentvolumeclaims: ordinalPart('db-2') } as const;
type Plural = keyof typeof ownOfCluster;

/** Adds a PVC, a pod or both to the cluster directly after the restore has listed PVCs. */
function withNameConflict(plurals: readonly Plural[]): SimulatedRestore {
  const life = new SimulatedRestore(replacedOrdinal);
  const { client } = life.objects;
  const list = client.list.bind(client);
  let hasGrown = false;
  client.list = async (kind) => {
    const found = await list(kind);
    const { stage } = (life.restore.status ?? {}) as { readonly stage?: string };
    if (kind.plural === 'persistentvolumeclaims' && stage === 'Seeding' && !hasGrown) {
      for (const plural of plurals) life.objects.put(plural, ownOfCluster[plural]);
      hasGrown = true;
    }
    return found;
  };
  return life;
}

it.each([[['pods']], [['persistentvolumeclaims']], [['persistentvolumeclaims', 'pods']]] as const)(
  'a member that the cluster adds during the restore is never used as the seed: %j',
  async (plurals) => {
    const life = withNameConflict(plurals);
    const removedWhileSeeding: string[] = [];
    const { writer } = life.objects;
    const remove = writer.remove.bind(writer);
    writer.remove = async (kind, at) => {
      const { stage } = (life.restore.status ?? {}) as { readonly stage?: string };
      if (stage === 'Seeding' && plurals.includes(kind.plural as never)) removedWhileSeeding.push(at.name);
      await remove(kind, at);
    };
    await life.run();
    expect(life.violations).toEqual([]);
    expect(removedWhileSeeding.filter((name) => name === 'db-2')).toEqual([]);
    const seed = (life.restore.status as { readonly seedMember?: string } | undefined)?.seedMember;
    expect(seed).toBe('db-4');
    expect(namesOf(life, 'pods')).toEqual([seed]);
    const kept = keptIn(life.objects);
    expect(kept).toEqual(expect.arrayContaining(['db-0', 'db-1', 'db-3']));
    expect(namesOf(life, 'persistentvolumeclaims').filter((name) => !kept.includes(name))).toEqual([seed]);
    expect(life.restore.status).toMatchObject({ phase: 'Completed', clusterId: 'bbb' });
  },
);
