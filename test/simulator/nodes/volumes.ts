import type { Pod } from '../../../src/kube/object.ts';
import { persistentVolumeClaims, pods } from '../../../src/kube/resource.ts';
import type { ApiServer, ObjectChange } from '../api/api-server.ts';
import type { SimulatedObject } from '../api/objects.ts';
import type { Disk } from '../etcd/types.ts';
import type { Scheduler } from '../world/scheduler.ts';

/** The name of the PVC that a pod mounts for its data. */
export const claimOf = (pod: SimulatedObject): string | undefined =>
  (pod as unknown as Pod).spec?.volumes?.find(({ name }) => name === 'etcd-data')?.persistentVolumeClaim?.claimName;

/** Volumes: one per PVC once it is bound, and one per pod without PVC. */
export class Volumes {
  readonly #api: ApiServer;
  readonly #scheduler: Scheduler;
  /** By the UID of the PVC or of the pod. */
  readonly #disks = new Map<string, Disk>();

  constructor(api: ApiServer, scheduler: Scheduler) {
    this.#api = api;
    this.#scheduler = scheduler;
    api.onChange(persistentVolumeClaims, (change) => this.#onClaim(change));
    api.onChange(pods, ({ type, object }) => {
      if (type !== 'DELETED') return;
      this.#disks.delete(object.metadata.uid);
      for (const claim of api.list(persistentVolumeClaims)) this.#release(claim);
    });
  }

  /** The volume of a pod; undefined while its PVC is missing, unbound or lost. */
  diskOf(pod: SimulatedObject): Disk | undefined {
    const claim = claimOf(pod);
    if (claim === undefined) return this.#diskWith(pod.metadata.uid);
    const { namespace } = pod.metadata;
    const found = this.#api.find(persistentVolumeClaims, { namespace, name: claim });
    if (found === undefined || phaseOf(found) !== 'Bound') return undefined;
    return this.#diskWith(found.metadata.uid);
  }

  /** The volume of a bound PVC. */
  diskOfClaim({ metadata }: SimulatedObject): Disk | undefined {
    return this.#disks.get(metadata.uid);
  }

  /** The volumes of all bound PVCs. */
  claimDisks(): readonly Disk[] {
    return this.#api.list(persistentVolumeClaims).flatMap((claim) => this.diskOfClaim(claim) ?? []);
  }

  /** The pod has ended: a volume that is not on a PVC is deleted. */
  drop({ metadata }: SimulatedObject): void {
    const disk = this.#disks.get(metadata.uid);
    if (disk !== undefined) disk.data = undefined;
  }

  /** The volume of a PVC is gone for good. */
  lose(claim: SimulatedObject): void {
    const disk = this.#disks.get(claim.metadata.uid);
    if (disk !== undefined) disk.data = undefined;
    this.#api.setStatus(persistentVolumeClaims, claim.metadata, { phase: 'Lost' });
  }

  #diskWith(uid: string): Disk {
    const known = this.#disks.get(uid);
    if (known !== undefined) return known;
    const disk: Disk = { data: undefined };
    this.#disks.set(uid, disk);
    return disk;
  }

  #onClaim({ type, object }: ObjectChange): void {
    if (type === 'DELETED') return void this.#disks.delete(object.metadata.uid);
    if (object.metadata.deletionTimestamp !== undefined) return this.#release(object);
    if (type !== 'ADDED') return;
    this.#scheduler.afterInert(this.#scheduler.random.between(50, 1_500), () => {
      const { metadata } = object;
      const current = this.#api.find(persistentVolumeClaims, metadata);
      if (current?.metadata.uid !== metadata.uid) return;
      const { resources } = (current.spec ?? {}) as { readonly resources?: { readonly requests?: object } };
      this.#api.setStatus(persistentVolumeClaims, metadata, { phase: 'Bound', capacity: resources?.requests ?? {} });
    });
  }

  /** A PVC that is being deleted goes when no pod mounts it. */
  #release(claim: SimulatedObject): void {
    const { namespace, name, deletionTimestamp } = claim.metadata;
    if (deletionTimestamp === undefined) return;
    const isUsed = this.#api.list(pods, { namespace }).some((pod) => claimOf(pod) === name);
    if (isUsed) return;
    this.#scheduler.afterInert(10, () => {
      const current = this.#api.find(persistentVolumeClaims, claim.metadata);
      if (current?.metadata.uid === claim.metadata.uid) this.#api.finish(persistentVolumeClaims, claim.metadata);
    });
  }
}

export const phaseOf = ({ status }: SimulatedObject): string =>
  ((status ?? {}) as { readonly phase?: string }).phase ?? 'Pending';
