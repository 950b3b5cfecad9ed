import { describe, expect, it } from 'vitest';
import { samplePod } from '../../../../test/support/sample-objects.ts';
import { anUpkeepWorld } from '../../../../test/support/upkeep-worlds.ts';
import { aWorld, nameOf, outOfContact, withoutMemberPod } from '../../../../test/support/worlds.ts';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import type { ClusterWorld } from '../../../core/cluster/model/cluster.ts';
import type { MemberId } from '../../../core/cluster/model/names.ts';
import { planCluster } from '../../../core/cluster/plan/plan-cluster.ts';
import type { Step } from '../../../core/cluster/plan/step.ts';
import { planUpkeep } from '../../../core/cluster/plan/upkeep/plan-upkeep.ts';
import { needsHidden } from '../../../core/cluster/plan/wait/wait-for-contact.ts';
import { ApiFailure } from '../../../kube/errors.ts';
import type { ObjectMeta } from '../../../kube/object.ts';
import { Failure } from '../../../std/failure.ts';
import { observeHidden } from '../observe/hidden-objects.ts';
import { perform } from './perform.ts';
import type { StepContext } from './step-context.ts';

const metadata = { name: 'db', namespace: 'default', uid: 'uid-1' };
const read = coreos.read({ metadata, spec: { size: 3, version: '3.5.35' } });
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const { blueprint } = read.value;
const ours = { ownerReferences: [blueprint.owner] };
const name = nameOf('db-2');
const labels = { app: 'etcd', etcd_cluster: 'db', etcd_node: name };
const { app: _, ...lessLabels } = labels;

const starting: Step = { kind: 'start-member-pod', name, join: { as: 'restarting' }, version: '3.5.35' };
const removing: Step = { kind: 'remove-member', id: 3n as MemberId, name, because: 'dead' };

interface PodsAndPvcs {
  readonly pod?: Partial<ObjectMeta>;
  readonly claim?: Partial<ObjectMeta>;
}

/**
 * A step context whose caches show `world`. The API server has a pod with this metadata under every name, or else a PVC
 * with that metadata.
 */
function contextFor(world: ClusterWorld, { pod = {}, claim }: PodsAndPvcs, refusal?: Failure) {
  const events: unknown[] = [];
  const patched: unknown[] = [];
  const get = async ({ plural }: { plural: string }, at: { name: string }): Promise<object> => {
    if (plural === 'pods' && claim === undefined) return samplePod(at.name, 1, pod);
    if (plural !== 'pods' && claim !== undefined) return { metadata: { ...at, uid: `pvc-of-${at.name}`, ...claim } };
    throw new Failure('not-found', 'no');
  };
  const writer = {
    create: () => Promise.reject(new ApiFailure('conflict', 'it is there', { reason: 'AlreadyExists' })),
    patch: async (_resource: unknown, at: { name: string }, { body }: { body: object }) => {
      if (refusal !== undefined) throw refusal;
      patched.push([at.name, body]);
    },
  };
  const clusters = { get: () => ({ metadata }) };
  const caches = { clusters, claims: { get: () => undefined } };
  const recordEvent = (_about: unknown, { reason, message }: { reason: string; message: string }) =>
    void events.push([reason, message]);
  const now = () => new Date('2026-01-01T00:00:30Z');
  const controller = { client: { get }, caches, recordEvent, now, writer: () => writer };
  const tlsModes = { peer: 'plain', client: 'plain' };
  const observed = { world, blueprint, tlsModes, podWith: () => undefined, blueprintFor: () => blueprint };
  const context = {
    blueprint,
    observed,
    controller,
    writer,
    signal: new AbortController().signal,
  } as unknown as StepContext;
  return { context, events, patched };
}

describe('a member pod that has lost a label of its Service', () => {
  const says = 'Pod db-2 had lost labels (app=etcd): the operator restored them';

  it.each([starting, removing])('gets its label back with an Event before the step: $kind', async (step) => {
    const { context, events, patched } = contextFor(aWorld(withoutMemberPod(name)), {
      pod: { ...ours, labels: lessLabels },
    });
    await expect(perform(step, context)).rejects.toMatchObject({ kind: 'rejected', message: says });
    expect(patched).toEqual([[name, { metadata: { uid: 'uid-of-db-2', labels: { app: 'etcd' } } }]]);
    expect(events).toEqual([['LabelsLost', says]]);
  });

  it('is reported if the label cannot be restored', async () => {
    const no = new Failure('forbidden', 'a webhook says no');
    const { context, events } = contextFor(
      aWorld(withoutMemberPod(name)),
      { pod: { ...ours, labels: lessLabels } },
      no,
    );
    const message = 'Pod db-2 had lost labels (app=etcd), and the operator cannot restore them: a webhook says no';
    await expect(perform(starting, context)).rejects.toMatchObject({ kind: 'rejected', message });
    expect(events).toEqual([['LabelsLost', message]]);
  });

  it('is not reported if the pod is gone', async () => {
    const gone = new Failure('not-found', 'no such pod');
    const { context, events } = contextFor(
      aWorld(withoutMemberPod(name)),
      { pod: { ...ours, labels: lessLabels } },
      gone,
    );
    await expect(perform(starting, context)).rejects.toBe(gone);
    expect(events).toEqual([]);
  });

  it('is not changed if only the cache is late', async () => {
    const { context, events, patched } = contextFor(aWorld(withoutMemberPod(name)), { pod: { ...ours, labels } });
    await expect(perform(starting, context)).rejects.toMatchObject({ kind: 'conflict' });
    expect([events, patched]).toEqual([[], []]);
  });
});

describe('a PVC of a member that has lost a label', () => {
  it('gets its label back before its member is removed', async () => {
    const claim = { ...ours, labels: lessLabels };
    const { context, events, patched } = contextFor(aWorld(withoutMemberPod(name)), { claim });
    const says = 'PersistentVolumeClaim db-2 had lost labels (app=etcd): the operator restored them';
    await expect(perform(removing, context)).rejects.toMatchObject({ kind: 'rejected', message: says });
    expect(patched).toEqual([[name, { metadata: { uid: 'pvc-of-db-2', labels: { app: 'etcd' } } }]]);
    expect(events).toEqual([['LabelsLost', says]]);
  });
});

describe('a foreign pod with the name of a member', () => {
  it('is not changed, and is reported', async () => {
    const { context, events, patched } = contextFor(aWorld(withoutMemberPod(name)), { pod: { labels } });
    const message = expect.stringMatching(/^Pod db-2 has the name of a member and does not belong to this cluster: /);
    await expect(perform(starting, context)).rejects.toMatchObject({ kind: 'rejected', message });
    expect(events).toEqual([['NameTaken', message]]);
    expect(patched).toEqual([]);
  });

  it.each([
    { deletionTimestamp: '2026-01-01T00:00:00Z' },
    { ownerReferences: [{ ...blueprint.owner, uid: 'uid-of-the-one-before' }] },
  ])('is not reported while it is being deleted: %j', async (going) => {
    const { context, events } = contextFor(aWorld(withoutMemberPod(name)), { pod: { labels, ...going } });
    await expect(perform(starting, context)).rejects.toMatchObject({ kind: 'conflict' });
    expect(events).toEqual([]);
  });
});

describe('a pod of a previous cluster with the same name', () => {
  it('is reported if its deletion is overdue', async () => {
    const going = { labels, deletionTimestamp: '2025-12-31T23:59:00Z' };
    const { context, events } = contextFor(aWorld(withoutMemberPod(name)), { pod: going });
    const message = expect.stringMatching(/^Pod db-2 of a previous cluster .* is not deleted: check its node/);
    await expect(perform(starting, context)).rejects.toMatchObject({ kind: 'rejected', message });
    expect(events).toEqual([['NameTaken', message]]);
  });
});

describe('a quorum whose pods no cache shows', () => {
  const world = aWorld(withoutMemberPod('db-1'), withoutMemberPod('db-2'), outOfContact());
  const lost = planCluster(world);

  /** The verdict and the upkeep of a pass, and its reads of hidden objects. */
  async function passWith(there: PodsAndPvcs | undefined) {
    const { context, events } = contextFor(world, there ?? {});
    const get = () => Promise.reject(new Failure('not-found', 'no'));
    const controller = there === undefined ? { ...context.controller, client: { get } } : context.controller;
    const hidden = await observeHidden(context.observed, controller);
    const seen = { ...world, hidden };
    const steps = planUpkeep(anUpkeepWorld(blueprint, {}, seen)).filter(({ kind }) => kind === 'restore-labels');
    return { verdict: planCluster(seen), steps, events, hidden };
  }

  it('is lost if the API server has no pods either', async () => {
    expect(lost).toMatchObject({ reason: 'QuorumLost' });
    const { verdict, steps } = await passWith(undefined);
    expect(verdict).toEqual(lost);
    expect(steps).toEqual([]);
  });

  it('is not lost if only pod labels are missing, and each pod gets its labels back', async () => {
    const { verdict, steps } = await passWith({ pod: { ...ours, labels: lessLabels } });
    const message = 'Pod db-1 had lost labels (app=etcd, etcd_node=db-1): the operator restores them';
    expect(verdict).toEqual({ is: 'wait', reason: 'NoContact', message, needsUserAction: true });
    expect(steps).toMatchObject([
      { of: 'Pod', name: 'db-1', uid: 'uid-of-db-1' },
      { of: 'Pod', name: 'db-2', labels: { app: 'etcd' } },
    ]);
  });

  it('is not lost if only PVC labels are missing, and each PVC gets its labels back', async () => {
    const { verdict, steps } = await passWith({ claim: { ...ours, labels: lessLabels } });
    const message = expect.stringContaining('PersistentVolumeClaim db-1 had lost labels');
    expect(verdict).toMatchObject({ is: 'wait', reason: 'NoContact', message });
    expect(steps).toMatchObject([
      { of: 'PersistentVolumeClaim', name: 'db-1', uid: 'pvc-of-db-1' },
      { of: 'PersistentVolumeClaim', name: 'db-2' },
    ]);
  });

  it('is unknown if a foreign pod has the name of a member, which is reported', async () => {
    const { verdict, steps, hidden } = await passWith({ pod: { labels } });
    const message = expect.stringMatching(/^Pod db-1 has the name of a member and does not belong to this cluster: /);
    expect(verdict).toMatchObject({ reason: 'NoContact', message });
    expect(steps).toEqual([]);
    expect(hidden).toMatchObject([{ isTaken: true }, { isTaken: true }]);
  });

  it.each([
    { ownerReferences: [{ ...blueprint.owner, kind: 'EtcdRestore', uid: 'of-a-restore' }] },
    { ...ours, deletionTimestamp: '2026-01-01T00:00:00Z' },
  ])('is lost if the PVCs belong to another owner or are being deleted: %j', async (claim) => {
    const { verdict, steps } = await passWith({ claim: { labels: lessLabels, ...claim } });
    expect(verdict).toEqual(lost);
    expect(steps).toEqual([]);
  });

  it('is checked once, and only before the loss is reported', () => {
    expect(needsHidden(lost, world)).toBe(true);
    expect(needsHidden(lost, { ...world, hidden: [] })).toBe(false);
    expect(needsHidden(planCluster(aWorld()), aWorld())).toBe(false);
  });
});
