import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newestOf } from './releases.ts';
import { routeTo, warningAbout } from './route.ts';

const stopsTo = (target: string, ...running: readonly string[]): readonly string[] | string => {
  const route = routeTo(target, running);
  return route.passable ? route.hops.map(({ version }) => version) : route.why;
};

describe('the upgrade path to a version', () => {
  it.each([
    ['within a minor, up', '3.5.35', ['3.5.21'], ['3.5.35']],
    ['within a minor, down', '3.5.21', ['3.5.35'], ['3.5.21']],
    ['to the next minor', '3.2.13', ['3.1.10'], ['3.2.13']],
    ['over the minimum patch', '3.6.16', ['3.5.21'], ['3.5.35', '3.6.16']],
    ['from the minimum patch', '3.6.16', ['3.5.32'], ['3.6.16']],
    ['over several minors', '3.7.3', ['3.4.31'], ['3.5.35', '3.6.16', '3.7.3']],
    ['from a newest patch over several minors', '3.7.3', ['3.5.35'], ['3.6.16', '3.7.3']],
    ['back to the minimum patch that one member is below', '3.6.16', ['3.5.20', '3.6.16'], ['3.5.35', '3.6.16']],
    ['in the middle of an upgrade', '3.6.16', ['3.5.35', '3.6.16'], ['3.6.16']],
    [
      'to a later target in the middle of an upgrade: all reach the next minor first',
      '3.7.3',
      ['3.5.35', '3.6.16'],
      ['3.6.16', '3.7.3'],
    ],
    ['back while a member still runs the old minor', '3.5.35', ['3.5.35', '3.6.16'], ['3.5.35']],
    ['back over a minor that a member has reached', '3.5.35', ['3.7.3', '3.6.16'], ['3.6.16', '3.5.35']],
    ['to a release with a known fault that all members run', '3.5.1', ['3.5.1', '3.5.1'], ['3.5.1']],
    ['into a minor that is unknown to the operator', '3.8.0', ['3.7.3'], ['3.8.0']],
  ])('leads %s', (...[, target, running, stops]) => {
    expect(stopsTo(target, ...running)).toEqual(stops);
  });

  it('marks hops of a downgrade', () => {
    expect(routeTo('3.6.16', ['3.7.3'])).toEqual({ passable: true, hops: [{ version: '3.6.16', isDowngrade: true }] });
    expect(stopsTo('3.5.35', '3.7.3')).toEqual(['3.6.16', '3.5.35']);
  });

  it.each([
    [
      'back from a minor without downgrades',
      '3.4.31',
      ['3.5.35'],
      /from etcd 3\.5 to 3\.4\.31 is impossible.*restore a backup/,
    ],
    ['to another major', '99.0.0', ['3.5.35'], /no upgrade path from etcd 3\.5\.35 to 99\.0\.0/],
    ['to a release with a known fault that not all members run', '3.5.1', ['3.5.1', '3.5.2'], /choose a later patch/],
    ['to a release with a known fault', '3.5.1', ['3.4.31'], /choose a later patch of 3\.5/],
    [
      'over a minor that is unknown to the operator',
      '3.9.0',
      ['3.7.3'],
      /etcd 3\.8 is unknown to this operator: set spec\.version/,
    ],
  ])('does not exist %s', (...[, target, running, message]) => {
    expect(stopsTo(target, ...running)).toMatch(message);
  });

  it('never skips a minor, and ends at the target', () => {
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

  it('a version with a known fault has a warning, and the newest patches have none', () => {
    expect(warningAbout('3.5.4')).toMatch(/3\.5\.4 .*: choose a later patch/);
    expect(warningAbout('3.5.20')).toMatch(/promote learners/);
    for (const late of ['3.5.32', '3.6.13', '3.7.0']) expect(warningAbout(late)).toMatch(/CVE-2026-73499/);
    for (const newest of Object.values(newestOf)) expect(warningAbout(newest)).toBeUndefined();
  });
});
