import { describe, expect, it } from 'vitest';
import { readOf } from '../../../../../test/support/upkeep-worlds.ts';
import { problem, type UpkeepPart, type UpkeepStep } from '../../../../core/cluster/plan/upkeep/step.ts';
import { peerService } from '../../../../core/manifests/services.ts';
import { Failure, type FailureKind } from '../../../../std/failure.ts';
import { takeUpkeep } from './take-upkeep.ts';

const why = 'a test';
const service: UpkeepStep = { kind: 'create-object', object: peerService(readOf({ replicas: 1 }).blueprint), why };
const owner = (claim: string): UpkeepStep => ({ kind: 'own-volume', claim, metadata: { uid: 'u' }, why });
const label = (name: string): UpkeepStep => ({ kind: 'restore-labels', of: 'Pod', name, uid: 'u', labels: {}, why });
const size = (claim: string): UpkeepStep => ({
  kind: 'grow-volume',
  claim,
  uid: 'u',
  storage: '2Gi',
  refused: {},
  why,
});

/** Takes the steps of which those with this name or claim fail, and returns the taken steps and the failures. */
async function taken(steps: readonly UpkeepStep[], refused: Readonly<Record<string, FailureKind>>, hasFormed = true) {
  const done: UpkeepStep[] = [];
  const take = async (step: UpkeepStep): Promise<void> => {
    if (step.kind === 'report-problem') throw step.failure;
    const name = 'claim' in step ? step.claim : 'name' in step ? step.name : step.kind;
    const kind = refused[name];
    if (kind !== undefined) throw new Failure(kind, name);
    done.push(step);
  };
  const upkeep = await takeUpkeep(steps, { take, hasFormed });
  return { done, aside: upkeep.aside?.message, ofClaims: upkeep.ofClaims?.message };
}

describe('a refused upkeep step', () => {
  it('stops no other part of upkeep', async () => {
    const steps = [service, owner('db-0'), label('db-0'), size('db-0')];
    const { done, aside } = await taken(steps, { 'create-object': 'forbidden' });
    expect(done).toEqual(steps.slice(1));
    expect(aside).toBe('create-object');
  });

  it('blocks the bootstrap only if it is about a Service', async () => {
    await expect(taken([service, owner('db-0')], { 'create-object': 'rejected' }, false)).rejects.toThrow(Failure);
    expect(await taken([owner('db-0'), service], { 'db-0': 'rejected' }, false)).toMatchObject({ done: [service] });
  });

  it('does not block the write of other PVCs, and is known to steps that need the PVC', async () => {
    const { done, ofClaims } = await taken([owner('db-0'), owner('db-1')], { 'db-0': 'forbidden' });
    expect(done).toEqual([owner('db-1')]);
    expect(ofClaims).toBe('db-0');
  });

  it('is reported before a transient failure of the same part', async () => {
    const steps = [owner('db-0'), owner('db-1')];
    expect(await taken(steps, { 'db-0': 'conflict', 'db-1': 'rejected' })).toMatchObject({ aside: 'db-1' });
  });

  it('ends the restoring of labels until the next pass', async () => {
    expect(await taken([label('db-0'), label('db-1')], { 'db-0': 'rejected' })).toMatchObject({
      done: [],
      aside: 'db-0',
    });
  });

  it('ends the resizing of PVCs unless the API server refuses a single PVC', async () => {
    const steps = [size('db-0'), size('db-1')];
    expect(await taken(steps, { 'db-0': 'forbidden' })).toMatchObject({ done: [size('db-1')], aside: 'db-0' });
    expect(await taken(steps, { 'db-0': 'unreachable' })).toMatchObject({ done: [], aside: 'db-0' });
    expect(await taken(steps, { 'db-0': 'forbidden', 'db-1': 'unreachable' })).toMatchObject({ aside: 'db-1' });
  });
});

it('of several parts, the failure of EtcdPeers is reported first', async () => {
  const of = (part: UpkeepPart): UpkeepStep => problem(part, new Failure('rejected', part));
  const all: readonly UpkeepPart[] = ['services', 'peers', 'owners', 'labels', 'sizes'];
  expect(await taken(all.map(of), {})).toMatchObject({ aside: 'peers', ofClaims: 'owners' });
  expect(
    await taken(
      ['sizes', 'labels', 'owners', 'services'].map((part) => of(part as UpkeepPart)),
      {},
    ),
  ).toMatchObject({
    aside: 'services',
  });
});
