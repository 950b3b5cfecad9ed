import { expect, it } from 'vitest';
import { type EtcdFacts, liesIn, type ToldStatus } from './truth.ts';

const facts: EtcdFacts = {
  members: [
    { id: 0x1fn, name: 'db-a', isLearner: false },
    { id: 0x2fn, name: 'db-b', isLearner: false },
  ],
  versions: ['3.6.16', '3.6.16'],
};
const [first, second] = [
  { name: 'db-b', id: '2f', role: 'voter', healthy: true, leader: true },
  { name: 'db-a', id: '1f', role: 'voter', healthy: true },
];
const status: ToldStatus = {
  ...{ size: 2, readyMembers: 2, currentVersion: '3.6.16', memberStatus: [first, second] },
  conditions: [{ type: 'Available', status: 'True' }],
};

it('a status that says what etcd says is no lie', () => expect(liesIn(status, facts)).toEqual([]));

it.each<readonly [string, ToldStatus]>([
  ['members', { ...status, memberStatus: [first, { ...second, id: '3f' }] }],
  ['members', { ...status, memberStatus: [first, { ...second, role: 'learner' }] }],
  ['size', { ...status, size: 3 }],
  ['readyMembers', { ...status, readyMembers: 1 }],
  ['currentVersion', { ...status, currentVersion: '3.5.35' }],
  ['healthy members', { ...status, memberStatus: [first, { ...second, healthy: false }] }],
  ['leaders', { ...status, memberStatus: [first, { ...second, leader: true }] }],
  ['condition Available', { ...status, conditions: [] }],
])('other %s than those of etcd are a lie', (what, told) => {
  expect(liesIn(told, facts)).toEqual([expect.stringMatching(`^the status says ${what}:`)]);
});

it('one version in the status is a lie while members run two', () => {
  expect(liesIn(status, { ...facts, versions: ['3.6.16', '3.5.35'] })).toHaveLength(1);
});
