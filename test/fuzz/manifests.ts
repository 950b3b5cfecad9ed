import type { MemberName } from '../../src/core/cluster/model/names.ts';
import type { Join } from '../../src/core/cluster/plan/step.ts';
import { disruptionBudget } from '../../src/core/manifests/budget.ts';
import type { Blueprint, Manifest } from '../../src/core/manifests/manifest.ts';
import { memberPodManifest } from '../../src/core/manifests/pod.ts';
import { memberClaim } from '../../src/core/manifests/pvc.ts';
import { seedClaim, seedPod } from '../../src/core/manifests/seed-pod.ts';
import { clientService, peerService } from '../../src/core/manifests/services.ts';
import { backupApis } from '../../src/operator/wiring/backup-kinds.ts';
import { restoreKinds } from '../../src/operator/wiring/restore-kinds.ts';
import { allDialects } from '../../src/operator/wiring/served.ts';
import type { Kind } from './kinds.ts';
import type { LabJson } from './lab-api.ts';

const member = 'db-0' as MemberName;

const joins: readonly Join[] = [
  { as: 'bootstrap', of: { members: [member], token: 'token' } },
  { as: 'joining', among: [{ name: member, peerURL: 'http://db-0:2380' }] } as unknown as Join,
  { as: 'restarting' },
];

/** Every object that the operator makes for a cluster. */
export function manifestsOf(blueprint: Blueprint): readonly Manifest[] {
  const { version } = blueprint.intent;
  const seeding = {
    ...{ name: member, token: 'token', owner: blueprint.owner, labels: {}, annotations: {}, args: [], mounts: [] },
    ...{ image: { name: 'etcd-operator:1' }, revisionBump: 1 },
  };
  return [
    ...joins.map((join) => memberPodManifest(blueprint, { name: member, join, version })),
    seedPod(blueprint, seeding),
    ...[seedClaim(blueprint, seeding), memberClaim(blueprint, member, version)].filter((each) => each !== undefined),
    ...[peerService(blueprint), clientService(blueprint)],
    ...[disruptionBudget(blueprint, { voters: 3, learners: 0 })].filter((each) => each !== undefined),
  ];
}

/** What the operator reads from an object: its intent, and all manifests of a cluster. Undefined if it refuses the object. */
export function translated({ api, role }: Kind, object: LabJson): object | undefined {
  if (role === 'cluster') {
    const read = allDialects[api].read(object);
    if (!read.ok) return undefined;
    const { blueprint, memory: _, ...rest } = read.value;
    return { blueprint, ...rest, manifests: manifestsOf(blueprint) };
  }
  const { backups, schedules } = backupApis[api];
  const dialects = { backup: backups, restore: restoreKinds[api].dialect, schedule: schedules, peer: undefined };
  const read = dialects[role]?.read(object);
  if (read?.ok !== true) return undefined;
  return { intent: read.value.intent, owner: read.value.owner };
}

/** What the operator remembers of a cluster in its status. */
export function memoryIn({ api, role }: Kind, object: LabJson): object | undefined {
  if (role !== 'cluster') return undefined;
  const read = allDialects[api].read(object);
  return read.ok ? read.value.memory : undefined;
}
