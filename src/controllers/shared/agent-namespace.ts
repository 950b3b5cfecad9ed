import { type KubeObject, keyOf } from '../../kube/object.ts';

/**
 * An agent pod in the operator's namespace cannot have an ownerReference to a resource in another namespace. Its label
 * holds the UID of the resource, and the annotation of the same name its key. Both count only in the operator's
 * namespace.
 */
export const agentForKey = (group: string): string => `${group}/agent-for`;

export interface OperatorNamespace {
  readonly group: string;
  /** The namespace of the operator. */
  readonly namespace: string;
}

/** The index of agent pods in the operator's namespace, by the key of their resource. */
export const agentNamespaceIndex = 'agent-namespace';

/** Indexes agent pods by the UID of their resource. */
export const byResourceUid =
  ({ group, namespace }: OperatorNamespace) =>
  ({ metadata }: KubeObject): readonly string[] => {
    const owners = (metadata.ownerReferences ?? []).map((owner) => owner.uid);
    const uid = metadata.namespace === namespace ? metadata.labels?.[agentForKey(group)] : undefined;
    return uid === undefined ? owners : [...owners, uid];
  };

/** Indexes agent pods in the operator's namespace by the key of their resource. */
export const byResourceKey =
  ({ group, namespace }: OperatorNamespace) =>
  ({ metadata }: KubeObject): readonly string[] => {
    const key = metadata.namespace === namespace ? metadata.annotations?.[agentForKey(group)] : undefined;
    return key === undefined ? [] : [key];
  };

export const agentForMetadata = (
  group: string,
  of: { readonly uid: string; readonly namespace: string; readonly name: string },
): { readonly labels: Readonly<Record<string, string>>; readonly annotations: Readonly<Record<string, string>> } => ({
  labels: { [agentForKey(group)]: of.uid },
  annotations: { [agentForKey(group)]: keyOf(of) },
});
