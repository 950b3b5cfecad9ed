import { describe, expect, it } from 'vitest';
import { aWorld, nameOf, untouched, wanting, withIntent } from '../../../../test/support/worlds.ts';
import { freeOrdinals } from '../../model/ordinals.ts';
import { rememberBootstrap } from './remember-bootstrap.ts';

/** Who founds a cluster of that size where these names have left disks. */
function founders(size: number, left: readonly string[]): readonly string[] {
  const leftDisks = left.map(nameOf);
  const spareNames = freeOrdinals('db', new Set(left), 9);
  const world = {
    ...aWorld(untouched(), wanting(size), withIntent({ memberNames: 'ordinal' })),
    leftDisks,
    spareNames,
  };
  const verdict = rememberBootstrap(world);
  const [step] = verdict?.is === 'act' ? verdict.steps : [];
  return step?.kind === 'remember-bootstrap' ? step.bootstrap.members : [];
}

describe('the founders of a cluster', () => {
  it('are as many as the spec says, with the lowest numbers', () => {
    expect(founders(3, [])).toEqual(['db-0', 'db-1', 'db-2']);
  });

  it('include whoever left a disk, in the order of numbers', () => {
    expect(founders(3, ['db-1'])).toEqual(['db-0', 'db-1', 'db-2']);
    expect(founders(1, ['db-2', 'db-10', 'db-0'])).toEqual(['db-0', 'db-2', 'db-10']);
  });

  it('are chosen once', () => {
    const world = aWorld(untouched());
    const memory = { ...world.memory, bootstrap: { members: [nameOf('db-0')], token: 't' } };
    expect(rememberBootstrap({ ...world, memory })).toBeUndefined();
  });
});
