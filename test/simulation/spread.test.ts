import { describe, expect, it } from 'vitest';
import { chooseNode } from '../../lab/controllers/placement.ts';
import { readCluster } from '../../src/apis/coreos-v1beta2/intent.ts';
import type { MemberName } from '../../src/core/cluster/model/names.ts';
import type { Blueprint } from '../../src/core/manifests/manifest.ts';
import { memberPodManifest } from '../../src/core/manifests/pod.ts';
import { seedPod } from '../../src/core/manifests/seed-pod.ts';
import type { Node, Pod } from '../../src/kube/object.ts';

const hostname = 'kubernetes.io/hostname';
const nodes = ['n1', 'n2', 'n3'].map((name) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { [hostname]: name } },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
})) as unknown as readonly Node[];

const named = (name: string): MemberName => name as MemberName;

function blueprintOf(pod: object): Blueprint {
  const spec = { size: 3, version: '3.6.16', pod };
  const read = readCluster({ metadata: { name: 'db', namespace: 'n', uid: 'c' }, spec });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value.blueprint;
}

const members = (blueprint: Blueprint, count: number): readonly Pod[] =>
  Array.from({ length: count }, (_, i) => {
    const name = named(`db-old-${i}`);
    const join = { as: 'bootstrap', of: { members: [name], token: 't' } } as const;
    return memberPodManifest(blueprint, { name, join, version: '3.6.16' }) as unknown as Pod;
  });

function joining(blueprint: Blueprint, name: string, leaving: readonly string[]): Pod {
  const join = { as: 'joining', among: [] } as const;
  const pod = { name: named(name), join, version: '3.6.16', leaving: leaving.map(named) };
  return memberPodManifest(blueprint, pod) as unknown as Pod;
}

const seedOf = (blueprint: Blueprint): Pod =>
  seedPod(blueprint, {
    ...{ name: named('db-seed'), token: 't', image: { name: 'etcd-operator' }, args: [], mounts: [] },
    owner: { apiVersion: 'v1', kind: 'EtcdRestore', name: 'r', uid: 'u', controller: true },
    ...{ labels: { app: 'etcd-restore' }, annotations: {} },
  }) as unknown as Pod;

/** Pods of other applications, so that nodes have different loads. */
const others = (busy: number): readonly Pod[] =>
  Array.from({ length: busy }, (_, i) =>
    onNode({ metadata: { name: `o${i}`, namespace: 'x' } } as Pod, `n${(i % 2) + 1}`),
  );

const onNode = (pod: Pod, nodeName: string): Pod => ({ ...pod, spec: { containers: [], ...pod.spec, nodeName } });
const nodeOf = ({ spec }: Pod): string => spec?.nodeName ?? '';

/** Schedules a pod among existing pods. */
function placed(pod: Pod, there: readonly Pod[]): Pod {
  const place = chooseNode(pod, { nodes, pods: there });
  if ('message' in place) throw new Error(`${pod.metadata.name}: ${place.message}`);
  return onNode(pod, place.node);
}

const apart = { topologyKey: hostname, labelSelector: { matchLabels: { etcd_cluster: 'db' } } };
const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 5, podAffinityTerm: apart }] };
const ways = [
  ['by default', {}],
  ['by required anti-affinity', { antiAffinity: true }],
  ['by affinity of the spec', { affinity: { podAntiAffinity: preferred } }],
] as const;

describe.each(ways)('members spread %s', (_title, spec) => {
  const blueprint = blueprintOf(spec);

  it.each([0, 1, 2, 3, 4, 5])('run on different nodes after a restore in place, with %s other pods', (busy) => {
    let there = [...others(busy)];
    for (const pod of members(blueprint, 3)) there.push(placed(pod, there));
    const seed = placed(seedOf(blueprint), there);
    const { labels } = joining(blueprint, 'db-seed', []).metadata;
    const late = ['a', 'b', 'c'].map((name) => onNode({ metadata: { name, namespace: 'x' } } as Pod, nodeOf(seed)));
    there = [...others(busy), ...late, { ...seed, metadata: { ...seed.metadata, labels: labels ?? {} } }];
    for (const name of ['db-1', 'db-2', 'db-3']) there.push(placed(joining(blueprint, name, ['db-seed']), there));
    const left = there.filter(({ metadata }) => /^db-\d/.test(metadata.name));
    expect(new Set(left.map(nodeOf)).size).toBe(3);
  });
});

it('members without PVCs run on different nodes after a rolling replacement', () => {
  const blueprint = blueprintOf({});
  for (const busy of [0, 1, 2, 3, 4, 5]) {
    let there = [...others(busy)];
    for (const pod of members(blueprint, 3)) there.push(placed(pod, there));
    for (let i = 0; i < 3; i++) {
      const leaving = there.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('db-old'));
      there.push(placed(joining(blueprint, `db-${i}`, leaving), there));
      there = there.filter(({ metadata }) => metadata.name !== leaving[0]);
    }
    const left = there.filter(({ metadata }) => metadata.name.startsWith('db-'));
    expect(new Set(left.map(nodeOf)).size, `${busy} other pods`).toBe(3);
  }
});

it('a joining member avoids the node of a leaving member if another node is free', () => {
  const blueprint = blueprintOf({});
  const leaving = onNode(joining(blueprint, 'db-seed', []), 'n1');
  expect(nodeOf(placed(joining(blueprint, 'db-1', ['db-seed']), [leaving, ...others(3)]))).not.toBe('n1');
});
