import type { ClusterDialect, ReadCluster } from '../../src/apis/common/dialect.ts';
import { coreos } from '../../src/apis/coreos-v1beta2/dialect.ts';
import { improbable } from '../../src/apis/improbable-v1alpha1/dialect.ts';
import type { ClusterWorld } from '../../src/core/cluster/model/cluster.ts';
import type { LiveObject } from '../../src/core/cluster/model/live-objects.ts';
import type { LiveObjects, UpkeepWorld } from '../../src/core/cluster/plan/upkeep/world.ts';
import type { Blueprint, Manifest } from '../../src/core/manifests/manifest.ts';
import { aWorld } from './worlds.ts';

/** The API with the claim template in spec.pod. */
export const podSpecApi: ClusterDialect = coreos;

/** The EtcdCluster db with this spec. */
export function readOf(spec: object, dialect: ClusterDialect = improbable): ReadCluster {
  const read = dialect.read({ metadata: { name: 'db', namespace: 'default', uid: 'uid-1' }, spec });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
}

const noObjects: LiveObjects = {
  services: [],
  budgets: undefined,
  peers: undefined,
  claims: [],
  keptClaims: [],
  ownedClaims: [],
  memberObjects: [],
};

/** A world with these objects around its members. */
export const anUpkeepWorld = (
  blueprint: Blueprint,
  live: Partial<LiveObjects> = {},
  world: ClusterWorld = aWorld(),
): UpkeepWorld => ({ ...world, blueprint, live: { ...noObjects, ...live }, verdict: { is: 'settled' } });

/** A manifest as the API server stores it. */
export const stored = ({ metadata, ...rest }: Manifest, change: object = {}): LiveObject => ({
  ...rest,
  metadata: { ...metadata, uid: `uid-of-${metadata.name}`, resourceVersion: '1', ...change },
});

/** The PVC of a member. */
export const aClaim = (name: string, change: object = {}): LiveObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'default', uid: `uid-of-${name}`, resourceVersion: '1', ...change },
});
