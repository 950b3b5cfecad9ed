import { expect, it } from 'vitest';
import { aWorld, wanting, withMember } from '../../../../../test/support/worlds.ts';
import { planCluster } from '../plan-cluster.ts';

it('a new member joins as a learner from etcd 3.4 on', () =>
  expect(planCluster(aWorld(wanting(4)))).toMatchObject({ steps: [{ kind: 'add-member', as: 'learner' }] }));

it('a new member joins as a voter if a member is older than etcd 3.4', () =>
  expect(planCluster(aWorld(wanting(4), withMember('db-1', { version: '3.3.27' })))).toMatchObject({
    steps: [{ kind: 'add-member', as: 'voter' }],
  }));
