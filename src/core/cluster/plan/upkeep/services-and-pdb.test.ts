import { describe, expect, it } from 'vitest';
import { anUpkeepWorld, readOf, stored } from '../../../../../test/support/upkeep-worlds.ts';
import { aWorld, healthy, nameOf, withMember, withMemberPod } from '../../../../../test/support/worlds.ts';
import { disruptionBudget } from '../../../manifests/budget.ts';
import { servingLabel } from '../../../manifests/labels.ts';
import { clientService, peerService } from '../../../manifests/services.ts';
import type { LiveObject } from '../../model/live-objects.ts';
import { keepBudget, keepServices } from './services-and-pdb.ts';

const { blueprint } = readOf({ replicas: 3 });
const [peers, clients] = [peerService(blueprint), clientService(blueprint)];
const serving = withMemberPod('db-0', { serves: true });
const keptWith = (...services: readonly LiveObject[]) =>
  keepServices(anUpkeepWorld(blueprint, { services }, aWorld(serving)));

describe('the Services of a cluster', () => {
  const right = blueprint.naming.clusterLabels;
  const ofClients = { ...right, [servingLabel(blueprint.naming)]: 'true' };
  const withSelector = (selector: object) => keptWith(stored(peers), { ...stored(clients), spec: { selector } });

  it('are created if they are missing', () => {
    expect(keptWith()).toMatchObject([
      { kind: 'create-object', object: { metadata: { name: 'db' } }, why: 'Service db does not exist' },
      { kind: 'create-object', object: { metadata: { name: 'db-client' } } },
    ]);
  });

  it('are not written if they are up to date', () => {
    expect(keptWith(stored(peers), stored(clients))).toEqual([]);
    const defaulted = { ...stored(clients), spec: { ...clients.spec, sessionAffinity: 'None' } };
    expect(keptWith(stored(peers), defaulted)).toEqual([]);
  });

  it('are corrected if a selector excludes members', () => {
    const correction = { kind: 'correct-object', of: 'Service', name: 'db-client', uid: 'uid-of-db-client' };
    expect(withSelector({ ...right, app: 'other' })).toMatchObject([
      { ...correction, spec: { selector: { ...ofClients, app: null } } },
    ]);
    expect(withSelector({ 'app.kubernetes.io/name': 'etcd' })).toMatchObject([{ spec: { selector: ofClients } }]);
  });

  it('lead to all members while no pod has the label of the client Service', () => {
    const selectorWith = (serves: boolean): unknown => {
      const world = aWorld(withMemberPod('db-0', { serves }));
      return keepServices(anUpkeepWorld(blueprint, {}, world)).map((step) => Reflect.get(step, 'object').spec.selector);
    };
    expect(selectorWith(false)).toEqual([right, right]);
    expect(selectorWith(true)).toEqual([right, ofClients]);
  });

  it('get lost labels back', () => {
    expect(keptWith(stored(peers, { labels: {} }), stored(clients))).toMatchObject([{ name: 'db', labels: right }]);
  });

  it('are reported if a foreign Service has the name, and the other Service is created', () => {
    const message = 'Service db exists and does not belong to this cluster: rename one of the two';
    expect(keptWith(stored(peers, { ownerReferences: [] }))).toMatchObject([
      { kind: 'report-problem', part: 'services', failure: { kind: 'rejected', message } },
      { kind: 'create-object', object: { metadata: { name: 'db-client' } } },
    ]);
  });

  it('wait for the deletion of the Services of a previous cluster', () => {
    const ownerReferences = [{ ...blueprint.owner, uid: 'uid-of-the-previous' }];
    const [problem] = keptWith(stored(peers, { ownerReferences }), stored(clients));
    expect(problem).toMatchObject({ kind: 'report-problem', failure: { kind: 'conflict' } });
  });
});

describe('the PodDisruptionBudget of a cluster', () => {
  const wanted = disruptionBudget(blueprint, { voters: 3, learners: 0 });
  if (wanted === undefined) throw new Error('no budget');
  const keptIn = (world = aWorld(), ...budgets: readonly LiveObject[]) =>
    keepBudget(anUpkeepWorld(blueprint, { budgets }, world));

  it('is created, and not written again', () => {
    expect(keptIn()).toMatchObject([{ kind: 'create-object', object: { spec: { minAvailable: 2 } } }]);
    expect(keptIn(aWorld(), stored(wanted))).toEqual([]);
  });

  it('counts a ready learner on top of the quorum', () => {
    const joining = aWorld(withMember('db-2', { role: 'learner' }));
    expect(keptIn(joining, stored(wanted))).toMatchObject([
      { kind: 'correct-object', of: 'PodDisruptionBudget', spec: { minAvailable: 3 } },
    ]);
    expect(keptIn(withMemberPod('db-2', { ready: false })(joining), stored(wanted))).toEqual([]);
  });

  it('is deleted in a cluster of one, unless it is foreign', () => {
    const { blueprint: ofOne } = readOf({ replicas: 1 });
    const one = { ...healthy(1), memory: { ...healthy(1).memory, voters: [nameOf('db-0')] } };
    const keptInOne = (budget: LiveObject) => keepBudget(anUpkeepWorld(ofOne, { budgets: [budget] }, one));
    const deletion = { kind: 'delete-budget', name: 'db', uid: 'uid-of-db', resourceVersion: '1' };
    expect(keptInOne(stored(wanted))).toMatchObject([deletion]);
    expect(keptInOne(stored(wanted, { ownerReferences: [] }))).toEqual([]);
  });

  it('is not created without the right to write it', () => {
    expect(keepBudget(anUpkeepWorld(blueprint, { budgets: undefined }))).toEqual([]);
  });
});
