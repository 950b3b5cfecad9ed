import type { ClusterIntent } from '../cluster/model/intent.ts';
import type { MemberTemplate, Naming, SecretFiles } from '../cluster/model/template.ts';

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller: true;
}

/** The desired state of a Kubernetes object, without fields that the API server adds. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences: readonly OwnerReference[];
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** The input for all objects of a cluster. */
export interface Blueprint {
  readonly intent: ClusterIntent;
  readonly owner: OwnerReference;
  readonly naming: Naming;
  readonly template: MemberTemplate;
  /** Certificate files if the spec has no TLS: members keep them for a while after TLS was switched off. */
  readonly certificateFiles?: { readonly peer: SecretFiles; readonly client: SecretFiles };
  /** True if the user accepts a cluster without TLS. */
  readonly acceptsPlaintext?: boolean;
  /** True if PVCs stay when the cluster is deleted. */
  readonly volumesOutlive: boolean;
}
