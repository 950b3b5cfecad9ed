import { isReady } from '../../../src/controllers/cluster/observe/readiness.ts';
import { pods } from '../../../src/kube/resource.ts';
import { etcdImageOf, versionOfImage } from '../nodes/pod-status.ts';
import type { WantedCluster } from './user.ts';
import { clusters, type World } from './world.ts';

const at = { namespace: 'default', name: 'db' };

/** What is not as the spec asks for; undefined if all is. */
export function difference(world: World): string | undefined {
  const object = world.api.find(clusters, at);
  if (object === undefined) return undefined;
  const { size, version } = object.spec as WantedCluster;
  return ofEtcd(world, object.metadata.uid, { size, version }) ?? ofPods(world, { size, version }) ?? ofStatus(world);
}

type Wanted = Pick<WantedCluster, 'size' | 'version'>;

function ofEtcd(world: World, uid: string, { size, version }: Wanted): string | undefined {
  const group = world.groupOf(uid);
  if (group === undefined) return 'etcd has not formed';
  const { entries } = group;
  if (entries.length !== size) return `etcd has ${entries.length} members of ${size}`;
  if (entries.some(({ isLearner }) => isLearner)) return 'etcd has a learner';
  if (group.healthyVoters().length !== size) return `${group.healthyVoters().length} of ${size} members serve`;
  const outdated = group.processes.filter((process) => process.version !== version);
  return outdated.length > 0 ? `${outdated.length} members do not run ${version}` : undefined;
}

function ofPods(world: World, { size, version }: Wanted): string | undefined {
  const all = world.api.list(pods, { namespace: at.namespace });
  if (all.length !== size) return `${all.length} pods of ${size}`;
  if (!all.every((pod) => isReady(pod as never))) return 'a pod is not ready';
  return all.every((pod) => versionOfImage(etcdImageOf(pod)) === version) ? undefined : 'a pod has another image';
}

function ofStatus(world: World): string | undefined {
  const { status, metadata } = world.api.get(clusters, at);
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Condition[] };
  const of = (wanted: string): Condition =>
    conditions.find(({ type }) => type === wanted) ?? { type: wanted, status: 'missing', reason: '' };
  const [available, progressing] = [of('Available'), of('Progressing')];
  if (available.status !== 'True') return `status: Available is ${available.status} (${available.reason})`;
  if (Reflect.get(Object(status), 'observedGeneration') !== metadata.generation) return 'status: of an older spec';
  return progressing.reason === 'AsDesired' ? undefined : `status: Progressing is ${progressing.reason}`;
}

/** What the status says, for a failure. */
export function told(world: World): string {
  const { status } = world.api.find(clusters, at) ?? {};
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Condition[] };
  return conditions
    .map(({ type, status: is, reason, message }) => `${type} ${is} ${reason} ${message ?? ''}`)
    .join(' | ');
}

interface Condition {
  readonly message?: string;
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}
