import { expect, it } from 'vitest';
import { aClaim, anUpkeepWorld, podSpecApi, readOf } from '../../../../../test/support/upkeep-worlds.ts';
import { nameOf } from '../../../../../test/support/worlds.ts';
import { Failure } from '../../../../std/failure.ts';
import { volumeRecordAnnotations } from '../../../manifests/pvc.ts';
import type { MemberObject } from '../../model/live-objects.ts';
import { isOwnVolume, keepLabels, restoreHidden } from './labels.ts';

const { blueprint } = readOf({ size: 1, version: '3.5.35' }, podSpecApi);
const all = { app: 'etcd', etcd_cluster: 'db', etcd_node: 'db-0' };
const labelled = (of: MemberObject['of'], labels: Readonly<Record<string, string>>): MemberObject => ({
  of,
  object: aClaim('db-0', { labels }),
  member: nameOf('db-0'),
});
const kept = (...memberObjects: readonly MemberObject[]) => keepLabels(anUpkeepWorld(blueprint, { memberObjects }));

it('a pod gets the labels of its Services back', () => {
  const labels = { etcd_cluster: 'db', etcd_node: 'db-0' };
  expect(kept(labelled('Pod', { app: 'etcd', etcd_node: 'another' }))).toEqual([
    {
      kind: 'restore-labels',
      of: 'Pod',
      name: 'db-0',
      uid: 'uid-of-db-0',
      labels,
      why: 'Pod db-0 had lost labels (etcd_cluster=db, etcd_node=db-0)',
    },
  ]);
});

it('a PVC gets its label back, and an object with all labels is not written', () => {
  const { app: _, ...others } = all;
  expect(kept(labelled('Pod', all), labelled('PersistentVolumeClaim', others))).toMatchObject([
    { of: 'PersistentVolumeClaim', labels: { app: 'etcd' } },
  ]);
});

it('a pod that no cache shows gets its labels back once', () => {
  const lost = labelled('Pod', {});
  const world = { ...anUpkeepWorld(blueprint, { memberObjects: [lost] }), hidden: [{ why: '', lost }] };
  expect(restoreHidden(world)).toMatchObject([{ of: 'Pod', labels: all }]);
  expect(keepLabels(world)).toEqual([]);
});

it('a PVC that cannot be read is reported', () => {
  const unread = new Failure('unreachable', 'no answer');
  const steps = keepLabels(anUpkeepWorld(blueprint, { memberObjects: [{ unread }] }));
  expect(steps).toMatchObject([{ kind: 'report-problem', part: 'labels' }]);
  expect(steps[0]).toHaveProperty('failure', unread);
});

it('a PVC belongs to the cluster by its owner, or by its record if it has no owner', () => {
  const isOwn = (change: object) => isOwnVolume(aClaim('db-0', change), blueprint, { clusterId: 'c1' });
  const recorded = (clusterId: string) => volumeRecordAnnotations({ clusterId, members: [] }, blueprint.naming);
  expect(isOwn({ ownerReferences: [blueprint.owner] })).toBe(true);
  expect(isOwn({ ownerReferences: [{ ...blueprint.owner, uid: 'another' }] })).toBe(false);
  expect(isOwn({ annotations: recorded('c1') })).toBe(true);
  expect(isOwn({ annotations: recorded('c2') })).toBe(false);
  expect(isOwn({ ownerReferences: [blueprint.owner], deletionTimestamp: '2026-01-01T00:00:00Z' })).toBe(false);
});
