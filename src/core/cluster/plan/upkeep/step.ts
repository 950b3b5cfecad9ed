import type { Failure } from '../../../../std/failure.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import type { LiveObject } from '../../model/live-objects.ts';

type StringMap = Readonly<Record<string, string>>;
type Metadata = LiveObject['metadata'];

/** Writes that keep the objects around members as the spec asks. No running member depends on them. */
type Write =
  | { readonly kind: 'create-object'; readonly object: Manifest }
  | {
      readonly kind: 'correct-object';
      readonly of: 'Service' | 'PodDisruptionBudget';
      readonly name: string;
      readonly uid: string;
      readonly labels: StringMap;
      readonly spec: object;
    }
  /** Deletes the PodDisruptionBudget of a cluster of one. */
  | { readonly kind: 'delete-budget'; readonly name: string; readonly uid: string; readonly resourceVersion: string }
  | { readonly kind: 'create-peer'; readonly peer: Manifest }
  /** Replaces the spec of an EtcdPeer. `mayRecreate`: by a new EtcdPeer if the API server rejects the change. */
  | {
      readonly kind: 'correct-peer';
      readonly peer: LiveObject;
      readonly spec: unknown;
      readonly mayRecreate: boolean;
    }
  /** Removes the finalizer of the original operator, after a record on the PVC that the finalizer protects. */
  | {
      readonly kind: 'release-peer';
      readonly name: string;
      readonly uid: string;
      readonly finalizers: readonly string[];
      readonly record?: { readonly claim: string; readonly uid: string; readonly annotations: StringMap };
    }
  | { readonly kind: 'delete-peer'; readonly name: string; readonly uid: string; readonly resourceVersion: string }
  /** Sets the owners of a PVC, and records the cluster on it. */
  | {
      readonly kind: 'own-volume';
      readonly claim: string;
      readonly metadata: Pick<Metadata, 'uid' | 'annotations' | 'ownerReferences'> & Partial<Metadata>;
    }
  /** Raises the storage request of a PVC. `refused`: the annotation of a PVC whose StorageClass does not allow it. */
  | {
      readonly kind: 'grow-volume';
      readonly claim: string;
      readonly uid: string;
      readonly storage: string;
      readonly refused: StringMap;
    }
  | {
      readonly kind: 'restore-labels';
      readonly of: 'Pod' | 'PersistentVolumeClaim';
      readonly name: string;
      readonly uid: string;
      readonly labels: StringMap;
    }
  /** Sets or removes the label by which the client Service selects a member. */
  | {
      readonly kind: 'label-serving';
      readonly name: string;
      readonly uid: string;
      readonly labels: Readonly<Record<string, string | null>>;
    }
  /** Writes nothing: reports why an object is left as it is. */
  | { readonly kind: 'report-problem'; readonly part: UpkeepPart; readonly failure: Failure };

/** One part of upkeep. A failure in one part does not affect the others. */
export type UpkeepPart = 'services' | 'peers' | 'owners' | 'labels' | 'serving' | 'sizes';

/** `why`: the cause of the write, for the log. */
export type UpkeepStep = Write & { readonly why: string };

export const problem = (part: UpkeepPart, failure: Failure): UpkeepStep => ({
  kind: 'report-problem',
  part,
  failure,
  why: failure.message,
});

const parts: Readonly<Record<Exclude<UpkeepStep['kind'], 'report-problem'>, UpkeepPart>> = {
  'create-object': 'services',
  'correct-object': 'services',
  'delete-budget': 'services',
  'create-peer': 'peers',
  'correct-peer': 'peers',
  'release-peer': 'peers',
  'delete-peer': 'peers',
  'own-volume': 'owners',
  'restore-labels': 'labels',
  'label-serving': 'serving',
  'grow-volume': 'sizes',
};

export const partOf = (step: UpkeepStep): UpkeepPart => (step.kind === 'report-problem' ? step.part : parts[step.kind]);

export const isUpkeep = (step: { readonly kind: string }): step is UpkeepStep =>
  step.kind === 'report-problem' || step.kind in parts;
