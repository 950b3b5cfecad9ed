import {
  configMaps,
  deployments,
  persistentVolumes,
  replicaSets,
  serviceAccounts,
  storageClasses,
} from '../../lab/kinds.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import {
  endpointSlices,
  events,
  leases,
  namespaced,
  namespaces,
  nodes,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  type Resource,
  secrets,
  services,
} from '../../src/kube/resource.ts';
import { coreos, improbable } from './apis.ts';

type Kind = Omit<Resource<KubeObject>, 'holds'>;

/** A selection of objects: one by name, those with a label, or all of a kind. */
export interface Target {
  readonly resource: Kind;
  readonly name: string | undefined;
  readonly labelSelector: string | undefined;
}

const customOf = ({ apiVersion }: { readonly apiVersion: string }, kinds: readonly string[]): readonly Kind[] => {
  const [group = '', version = ''] = apiVersion.split('/');
  return kinds.map((kind) => namespaced({ group, version, kind, plural: `${kind.toLowerCase()}s` }));
};

/** If both APIs have a kind, its short name means the coreos API, as for kubectl. */
const kinds: readonly Kind[] = [
  ...[pods, services, secrets, events, nodes, namespaces, persistentVolumeClaims, podDisruptionBudgets, leases],
  ...[configMaps, serviceAccounts, persistentVolumes, storageClasses, deployments, replicaSets, endpointSlices],
  ...customOf(coreos, ['EtcdCluster', 'EtcdBackup', 'EtcdRestore']),
  ...customOf(improbable, ['EtcdCluster', 'EtcdPeer', 'EtcdBackup', 'EtcdBackupSchedule', 'EtcdRestore']),
];

const namesOf = ({ group, plural, kind }: Kind): readonly string[] =>
  [plural, kind.toLowerCase()].flatMap((name) => [name, `${name}.${group}`]);

const byName = new Map<string, Kind>([
  ...kinds.toReversed().flatMap((kind) => namesOf(kind).map((name) => [name, kind] as const)),
  ['pvc', persistentVolumeClaims],
]);

/** Parses a target as typed for kubectl: `pod/db-0`, `pods -l app=etcd`, or `pods`. */
export function targetOf(target: string): Target {
  const [what = '', flag, labelSelector] = target.trim().split(/\s+/);
  const [kind = '', name] = what.split('/');
  const resource = byName.get(kind);
  if (resource === undefined) throw new Error(`no kind ${kind} in test/support/targets.ts`);
  if (flag !== undefined && (flag !== '-l' || labelSelector === undefined || name !== undefined))
    throw new Error(`unsupported target "${target}": use kind/name, kind -l label=value or kind`);
  return { resource, name, labelSelector };
}
