import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newestOf } from './releases.ts';
import { routeTo, warningAbout } from './route.ts';

const stopsTo = (target: string, ...running: readonly string[]): readonly string[] | string => {
  const route = routeTo(target, running);
  return route.passable ? route.hops.map(({ version }) => version) : route.says;
};

describe('the way to a version', () => {
  it.each([
    ['within a minor, up', '3.5.35', ['3.5.21'], ['3.5.35']],
    ['within a minor, down', '3.5.21', ['3.5.35'], ['3.5.21']],
    ['to the next minor', '3.2.13', ['3.1.10'], ['3.2.13']],
    ['through a floor', '3.6.16', ['3.5.21'], ['3.5.35', '3.6.16']],
    ['past a floor that is met', '3.6.16', ['3.5.32'], ['3.6.16']],
    ['over several minors', '3.7.3', ['3.4.31'], ['3.5.35', '3.6.16', '3.7.3']],
    ['from a newest patch over several minors', '3.7.3', ['3.5.35'], ['3.6.16', '3.7.3']],
    ['back to a floor that one member is below', '3.6.16', ['3.5.20', '3.6.16'], ['3.5.35', '3.6.16']],
    ['halfway there', '3.6.16', ['3.5.35', '3.6.16'], ['3.6.16']],
    [
      'a farther target given halfway: first all reach the next minor',
      '3.7.3',
      ['3.5.35', '3.6.16'],
      ['3.6.16', '3.7.3'],
    ],
    ['back while somebody still runs the old minor', '3.5.35', ['3.5.35', '3.6.16'], ['3.5.35']],
    ['back over a minor that the first has reached', '3.5.35', ['3.7.3', '3.6.16'], ['3.6.16', '3.5.35']],
    ['to a release that is known to be bad, where all run it', '3.5.1', ['3.5.1', '3.5.1'], ['3.5.1']],
    ['into a minor that is newer than what is known', '3.8.0', ['3.7.3'], ['3.8.0']],
  ])('leads %s', (...[, target, running, stops]) => {
    expect(stopsTo(target, ...running)).toEqual(stops);
  });

  it('says of a downgrade that it is one', () => {
    expect(routeTo('3.6.16', ['3.7.3'])).toEqual({ passable: true, hops: [{ version: '3.6.16', isDowngrade: true }] });
    expect(stopsTo('3.5.35', '3.7.3')).toEqual(['3.6.16', '3.5.35']);
  });

  it.each([
    ['back over a minor that cannot', '3.4.31', ['3.5.35'], /3\.5 cannot go back to 3\.4\.31.*restore a backup/],
    ['to another major', '99.0.0', ['3.5.35'], /no way from etcd 3\.5\.35 to 99\.0\.0/],
    ['to a release that is known to be bad, where not all run it', '3.5.1', ['3.5.1', '3.5.2'], /choose a later patch/],
    ['to a release that is known to be bad', '3.5.1', ['3.4.31'], /choose a later patch of 3\.5/],
    ['over a minor that nobody here knows', '3.9.0', ['3.7.3'], /etcd 3\.8 is not known here: set spec\.version/],
  ])('does not lead %s', (...[, target, running, says]) => {
    expect(stopsTo(target, ...running)).toMatch(says);
  });

  it('never skips a minor, and ends where it should', () => {
    const version = fc.tuple(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 0, max: 40 }));
    fc.assert(
      fc.property(version, version, ([fromMinor, fromPatch], [toMinor, toPatch]) => {
        const target = `3.${toMinor}.${toPatch}`;
        const route = routeTo(target, [`3.${fromMinor}.${fromPatch}`]);
        if (!route.passable) return;
        const minors = [fromMinor, ...route.hops.map((hop) => Number(hop.version.split('.')[1]))];
        for (const [i, minor] of minors.slice(1).entries())
          expect(Math.abs(minor - (minors[i] ?? 0))).toBeLessThanOrEqual(1);
        expect(route.hops.at(-1)?.version).toBe(target);
      }),
    );
  });

  it('warns of what should not be run, and of nothing that is newest', () => {
    expect(warningAbout('3.5.4')).toMatch(/3\.5\.4 .*: choose a later patch/);
    expect(warningAbout('3.5.20')).toMatch(/promote learners/);
    for (const late of ['3.5.32', '3.6.13', '3.7.0']) expect(warningAbout(late)).toMatch(/CVE-2026-73499/);
    for (const newest of Object.values(newestOf)) expect(warningAbout(newest)).toBeUndefined();
  });
});
