import { describe, expect, it } from 'vitest';
import { aWorld, nameOf, wanting, withCarrier, withIntent, withMember } from '../../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../model/cluster.ts';
import { planCluster } from './plan-cluster.ts';
import type { Verdict } from './step.ts';

const numbered = withIntent({ memberNames: 'ordinal' });
const renamed = (from: string, to: string) => (world: ClusterWorld) =>
  withCarrier(from, { name: nameOf(to) })(withMember(from, { name: nameOf(to) })(world));
const leading = (name: string) => (world: ClusterWorld) =>
  withMember(name, { leads: true })(withMember('db-0', { leads: false })(world));

const said = (verdict: Verdict): string =>
  verdict.is === 'act'
    ? verdict.steps.map((step) => ('name' in step ? `${step.kind} ${step.name}` : step.kind)).join(', ')
    : verdict.is;

describe('a cluster whose members are numbered', () => {
  const cases: Record<string, { given: ClusterWorld; want: string }> = {
    'shrinks by the highest number where members are numbered': {
      given: aWorld(wanting(1), numbered),
      want: 'remove-member db-2',
    },
    'takes numbers for numbers: ten is more than nine': {
      given: aWorld(wanting(1), numbered, renamed('db-1', 'db-10'), renamed('db-2', 'db-9')),
      want: 'remove-member db-10',
    },
    'has the highest number hand the lead to the lowest before it goes': {
      given: aWorld(wanting(2), numbered, leading('db-2')),
      want: 'move-leader db-0',
    },
    'cannot have it handed over by an etcd before 3.3': {
      given: aWorld(wanting(2), numbered, leading('db-2'), withMember('db-2', { version: '3.2.13' })),
      want: 'remove-member db-2',
    },
    'shrinks by a sick member before the highest number': {
      given: aWorld(wanting(2), numbered, withMember('db-1', { health: 'silent' })),
      want: 'remove-member db-1',
    },
  };
  for (const [sentence, { given, want }] of Object.entries(cases)) {
    it(sentence, () => expect(said(planCluster(given))).toBe(want));
  }
});

describe('a cluster that loses a member while it shrinks', () => {
  it('lets the one go that is leaving anyway, and never one of those that the majority then needs', () => {
    const given = aWorld(
      wanting(2),
      withMember('db-2', { health: 'leaving' }),
      withCarrier('db-2', { phase: 'stopping' }),
    );
    expect(said(planCluster(given))).toBe('remove-member db-2');
  });
});
