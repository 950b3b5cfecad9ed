import { afterAll, beforeAll, expect, it } from 'vitest';
import { withKey } from './hostile-values.ts';
import { type Fate, FuzzBench, judge } from './judge.ts';
import { kinds, titleOf } from './kinds.ts';
import { exampleOf, type Mutation } from './mutations.ts';

/** Examples that once broke a promise. */

let bench: FuzzBench;
beforeAll(async () => void (bench = await FuzzBench.start()));
afterAll(() => bench.close());

const set = (to: unknown, ...at: readonly string[]): Mutation => ({ does: 'set', at, to });

const found: readonly (readonly [title: string, kind: string, mutation: Mutation, fate: Fate])[] = [
  [
    'a field of an affinity that Kubernetes does not know is reported',
    'coreos EtcdCluster',
    set({}, 'spec', 'pod', 'affinity', 'nodeAffinity', 'requiredDuringScheduling'),
    'served',
  ],
  [
    'a field of a security context that Kubernetes does not know is reported',
    'improbable EtcdCluster',
    set(true, 'spec', 'podTemplate', 'securityContext', 'hostPID'),
    'served',
  ],
  [
    'an annotation of a restore that is too long for the status does not stop reports',
    'coreos EtcdCluster',
    set('x'.repeat(300), 'metadata', 'annotations', 'etcd.database.coreos.com/restoring'),
    'waiting',
  ],
  [
    'an annotation of a restore that is too long for the status does not stop reports',
    'improbable EtcdCluster',
    set('x'.repeat(300), 'metadata', 'annotations', 'etcd.improbable.io/restoring'),
    'waiting',
  ],
  [
    'an annotation of a restore that is longer than a message does not stop reports',
    'improbable EtcdCluster',
    set('x'.repeat(33_000), 'metadata', 'annotations', 'etcd.improbable.io/restoring'),
    'waiting',
  ],
  [
    'a bootstrap member that the status lists twice gets one pod',
    'coreos EtcdCluster',
    set({ members: ['db-a', 'db-a'], token: 't' }, 'status', 'bootstrap'),
    'served',
  ],
  [
    'a bootstrap member that the status lists twice gets one pod',
    'improbable EtcdCluster',
    set({ members: ['db-0', 'db-0'], token: 't' }, 'status', 'bootstrap'),
    'served',
  ],
  [
    'half a character in the name of a member is no bug',
    'coreos EtcdCluster',
    set({ ready: ['\ud8ac'] }, 'status', 'members'),
    'waiting',
  ],
  [
    'a text that is too long is reported with the field that it makes too long',
    'improbable EtcdRestore',
    set(
      'x'.repeat(33_000),
      ...['spec', 'clusterTemplate', 'spec', 'podTemplate', 'affinity', 'nodeAffinity'],
      ...['preferredDuringSchedulingIgnoredDuringExecution', 'Size'],
    ),
    'refused by the operator',
  ],
  [
    'a member that the status of the original lists twice does not stop reports',
    'coreos EtcdCluster',
    set({ ready: ['db-0'], unready: ['db-0'] }, 'status', 'members'),
    'waiting',
  ],
  [
    'a seed member that no cluster can have does not stay in the status',
    'coreos EtcdRestore',
    set('/a', 'status', 'seedMember'),
    'served',
  ],
  [
    'a size that no backup can have does not stay in the status',
    'improbable EtcdBackup',
    set(-1, 'status', 'sizeBytes'),
    'served',
  ],
  ['an empty seed member does not stop a restore', 'coreos EtcdRestore', set('', 'status', 'seedMember'), 'served'],
  ['an empty seed member does not stop a restore', 'improbable EtcdRestore', set('', 'status', 'seedMember'), 'served'],
  ['the field constructor is unknown and dropped', 'improbable EtcdCluster', set('x', 'spec', 'constructor'), 'served'],
  [
    'the label __proto__ is refused',
    'coreos EtcdCluster',
    set(withKey('__proto__', 'x'), 'spec', 'pod', 'labels'),
    'refused by the API server',
  ],
];

it.each(found)('%s (%s)', async (...[, title, mutation, fate]) => {
  const kind = kinds.find((each) => titleOf(each) === title);
  const [spec] = kind?.specs ?? [];
  if (kind === undefined || spec === undefined) throw new Error(`${title} has no example`);
  const example = exampleOf({ kind, spec, mutations: [mutation], isShared: false, isWorked: true });
  expect(await judge(example, bench)).toEqual({ fate, problems: [] });
});
