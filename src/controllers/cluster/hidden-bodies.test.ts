import { describe, expect, it } from 'vitest';
import { samplePod } from '../../../test/support/sample-objects.ts';
import { aWorld, nameOf, outOfContact, withoutCarrier } from '../../../test/support/worlds.ts';
import type { ClusterWorld } from '../../core/model/cluster.ts';
import type { MemberId } from '../../core/model/names.ts';
import { planCluster } from '../../core/plan/cluster/plan-cluster.ts';
import type { Step } from '../../core/plan/cluster/step.ts';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import { ApiFailure } from '../../kube/errors.ts';
import type { ObjectMeta } from '../../kube/object.ts';
import { Failure } from '../../std/failure.ts';
import type { Deed } from './deed.ts';
import { unlessHidden } from './hidden-bodies.ts';
import { perform } from './perform.ts';

const metadata = { name: 'db', namespace: 'default', uid: 'uid-1' };
const read = coreos.read({ metadata, spec: { size: 3, version: '3.5.35' } });
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const { blueprint } = read.value;
const ours = { ownerReferences: [blueprint.owner] };
const name = nameOf('db-2');
const labels = { app: 'etcd', etcd_cluster: 'db', etcd_node: name };
const { app: _, ...lessLabels } = labels;

const starting: Step = { kind: 'start-carrier', name, join: { as: 'returner' }, version: '3.5.35' };
const removing: Step = { kind: 'remove-member', id: 3n as MemberId, name, because: 'dead' };

interface Bodies {
  readonly pod?: Partial<ObjectMeta>;
  readonly claim?: Partial<ObjectMeta>;
}

/**
 * What there is to work with, where copies show `world`, and the API server has a pod like this under every name; or a claim
 * like that in its place.
 */
function workplace(world: ClusterWorld, { pod = {}, claim }: Bodies, refusal?: Failure) {
  const told: unknown[] = [];
  const patched: unknown[] = [];
  const get = async ({ plural }: { plural: string }, at: { name: string }): Promise<object> => {
    if (plural === 'pods' && claim === undefined) return samplePod(at.name, 1, pod);
    if (plural !== 'pods' && claim !== undefined) return { metadata: { ...at, uid: `disk-of-${at.name}`, ...claim } };
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
  const tell = (_about: unknown, { reason, message }: { reason: string; message: string }) =>
    void told.push([reason, message]);
  const now = () => new Date('2026-01-01T00:00:30Z');
  const tools = { client: { get }, caches, tell, now, writer: () => writer };
  const planes = { peer: 'plain', client: 'plain' };
  const observed = { world, blueprint, planes, podWith: () => undefined, blueprintFor: () => blueprint };
  const deed = { blueprint, observed, tools, writer, signal: new AbortController().signal } as unknown as Deed;
  return { deed, told, patched };
}

describe('a pod of a member that has lost the label by which it is found', () => {
  const says = 'Pod db-2 had lost labels by which it is found (app=etcd): they were put back';

  it.each([starting, removing])('gets it back, which is told, before anything else is done: $kind', async (step) => {
    const { deed, told, patched } = workplace(aWorld(withoutCarrier(name)), { pod: { ...ours, labels: lessLabels } });
    await expect(perform(step, deed)).rejects.toMatchObject({ kind: 'rejected', message: says });
    expect(patched).toEqual([[name, { metadata: { uid: 'uid-of-db-2', labels: { app: 'etcd' } } }]]);
    expect(told).toEqual([['LabelsLost', says]]);
  });

  it('is told where it cannot get it back', async () => {
    const no = new Failure('forbidden', 'a webhook says no');
    const { deed, told } = workplace(aWorld(withoutCarrier(name)), { pod: { ...ours, labels: lessLabels } }, no);
    const message =
      'Pod db-2 had lost labels by which it is found (app=etcd), which cannot be put back: a webhook says no';
    await expect(perform(starting, deed)).rejects.toMatchObject({ kind: 'rejected', message });
    expect(told).toEqual([['LabelsLost', message]]);
  });

  it('is nothing to tell of where it is gone by then', async () => {
    const gone = new Failure('not-found', 'no such pod');
    const { deed, told } = workplace(aWorld(withoutCarrier(name)), { pod: { ...ours, labels: lessLabels } }, gone);
    await expect(perform(starting, deed)).rejects.toBe(gone);
    expect(told).toEqual([]);
  });

  it('is looked for once more, and not touched, where only a copy is late', async () => {
    const { deed, told, patched } = workplace(aWorld(withoutCarrier(name)), { pod: { ...ours, labels } });
    await expect(perform(starting, deed)).rejects.toMatchObject({ kind: 'conflict' });
    expect([told, patched]).toEqual([[], []]);
  });
});

describe('a disk of a member that has lost the label by which it is found', () => {
  it('gets it back before its member is given up', async () => {
    const claim = { ...ours, labels: lessLabels };
    const { deed, told, patched } = workplace(aWorld(withoutCarrier(name)), { claim });
    const says = 'PersistentVolumeClaim db-2 had lost labels by which it is found (app=etcd): they were put back';
    await expect(perform(removing, deed)).rejects.toMatchObject({ kind: 'rejected', message: says });
    expect(patched).toEqual([[name, { metadata: { uid: 'disk-of-db-2', labels: { app: 'etcd' } } }]]);
    expect(told).toEqual([['LabelsLost', says]]);
  });
});

describe('a pod of somebody else under the name of a member', () => {
  it('is left alone, and told', async () => {
    const { deed, told, patched } = workplace(aWorld(withoutCarrier(name)), { pod: { labels } });
    const message = expect.stringMatching(/^Pod db-2 has the name of a member and does not belong to this cluster: /);
    await expect(perform(starting, deed)).rejects.toMatchObject({ kind: 'rejected', message });
    expect(told).toEqual([['NameTaken', message]]);
    expect(patched).toEqual([]);
  });

  it.each([
    { deletionTimestamp: '2026-01-01T00:00:00Z' },
    { ownerReferences: [{ ...blueprint.owner, uid: 'uid-of-the-one-before' }] },
  ])('is waited out without a word where it is about to go: %j', async (going) => {
    const { deed, told } = workplace(aWorld(withoutCarrier(name)), { pod: { labels, ...going } });
    await expect(perform(starting, deed)).rejects.toMatchObject({ kind: 'conflict' });
    expect(told).toEqual([]);
  });
});

describe('a pod of a cluster of this name that was deleted', () => {
  it('is told when it has long had the time to go, and does not', async () => {
    const going = { labels, deletionTimestamp: '2025-12-31T23:59:00Z' };
    const { deed, told } = workplace(aWorld(withoutCarrier(name)), { pod: going });
    const message = expect.stringMatching(/^Pod db-2 of a cluster .* does not go: see to its node/);
    await expect(perform(starting, deed)).rejects.toMatchObject({ kind: 'rejected', message });
    expect(told).toEqual([['NameTaken', message]]);
  });
});

describe('a majority whose pods no copy shows', () => {
  const world = aWorld(withoutCarrier('db-1'), withoutCarrier('db-2'), outOfContact());
  const lost = planCluster(world);

  it('is said to be lost where there are none', async () => {
    expect(lost).toMatchObject({ reason: 'QuorumLost' });
    const { deed } = workplace(world, {});
    const get = () => Promise.reject(new Failure('not-found', 'no'));
    const tools = { ...deed.tools, client: { get } };
    expect(await unlessHidden(lost, deed.observed, tools)).toBe(lost);
  });

  it('is not said to be lost where only their labels are, and each gets them back', async () => {
    const { deed, told, patched } = workplace(world, { pod: { ...ours, labels: lessLabels } });
    const verdict = await unlessHidden(lost, deed.observed, deed.tools);
    expect(verdict).toMatchObject({ is: 'wait', reason: 'NoContact', message: expect.stringContaining('Pod db-1') });
    expect(patched).toMatchObject([
      ['db-1', {}],
      ['db-2', {}],
    ]);
    expect(told).toHaveLength(2);
  });

  it('is not said to be lost where its disks have lost theirs, and each gets them back', async () => {
    const { deed, told, patched } = workplace(world, { claim: { ...ours, labels: lessLabels } });
    const verdict = await unlessHidden(lost, deed.observed, deed.tools);
    const message = expect.stringContaining('PersistentVolumeClaim db-1 had lost labels by which it is found');
    expect(verdict).toMatchObject({ is: 'wait', reason: 'NoContact', message });
    expect(patched).toMatchObject([
      ['db-1', { metadata: { uid: 'disk-of-db-1', labels: { app: 'etcd' } } }],
      ['db-2', {}],
    ]);
    expect(told).toHaveLength(2);
  });

  it.each([
    { ownerReferences: [{ ...blueprint.owner, kind: 'EtcdRestore', uid: 'of-a-restore' }] },
    { ...ours, deletionTimestamp: '2026-01-01T00:00:00Z' },
  ])('is said to be lost where disks of these names are not its own, or about to go: %j', async (claim) => {
    const { deed, patched } = workplace(world, { claim: { labels: lessLabels, ...claim } });
    expect(await unlessHidden(lost, deed.observed, deed.tools)).toBe(lost);
    expect(patched).toEqual([]);
  });

  it('is not asked for where all is well', async () => {
    const { deed } = workplace(aWorld(), {});
    const settled = planCluster(aWorld());
    expect(await unlessHidden(settled, deed.observed, undefined as never)).toBe(settled);
  });
});
