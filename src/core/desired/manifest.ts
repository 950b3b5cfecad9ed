import type { ClusterIntent } from '../model/intent.ts';
import type { MemberTemplate, Naming, SecretFiles } from '../model/template.ts';

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller: true;
}

/** A Kubernetes object as we want it; what the server adds to it is none of our business. */
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

/** All that the objects of a cluster are made from. */
export interface Blueprint {
  readonly intent: ClusterIntent;
  readonly owner: OwnerReference;
  readonly naming: Naming;
  readonly template: MemberTemplate;
  /** Where certificates would be, had the spec asked for any: members keep theirs for a while when it no longer does. */
  readonly certificateFiles?: { readonly peer: SecretFiles; readonly client: SecretFiles };
  /** True if a user has said that the cluster is to be without TLS. */
  readonly acceptsPlaintext?: boolean;
  /** Whether members' disks stay when the cluster is deleted. */
  readonly disksOutlive: boolean;
}
