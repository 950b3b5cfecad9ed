import { type KubeObject, keyOf } from '../../kube/object.ts';

/**
 * An agent that works in the operator's namespace cannot be owned by its resource in another: a label says its uid, an
 * annotation of the same name where it is. Only what is in the operator's own namespace is believed.
 */
export const awayMark = (group: string): string => `${group}/agent-for`;

export interface Home {
  readonly group: string;
  /** The operator's. */
  readonly namespace: string;
}

/** The name of the index by which agents away from their resource are found by its key. */
export const awayIndex = 'away';

/** An index by the uids of those an agent works for. */
export const byEmployer =
  ({ group, namespace }: Home) =>
  ({ metadata }: KubeObject): readonly string[] => {
    const owners = (metadata.ownerReferences ?? []).map(({ uid }) => uid);
    const away = metadata.namespace === namespace ? metadata.labels?.[awayMark(group)] : undefined;
    return away === undefined ? owners : [...owners, away];
  };

/** An index by the keys of those an agent works for, where it is away. */
export const byAway =
  ({ group, namespace }: Home) =>
  ({ metadata }: KubeObject): readonly string[] => {
    const key = metadata.namespace === namespace ? metadata.annotations?.[awayMark(group)] : undefined;
    return key === undefined ? [] : [key];
  };

export const awayMarks = (
  group: string,
  of: { readonly uid: string; readonly namespace: string; readonly name: string },
): { readonly labels: Readonly<Record<string, string>>; readonly annotations: Readonly<Record<string, string>> } => ({
  labels: { [awayMark(group)]: of.uid },
  annotations: { [awayMark(group)]: keyOf(of) },
});
