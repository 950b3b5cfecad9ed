import type { KubeObject, Stored } from '../../kube/object.ts';
import type { Deed } from './deed.ts';

/** What is left of a cluster of the same name that was deleted before. */

/** It goes with that: whoever used it would get its data, and lose it soon. */
export function isAboutToGo(
  { metadata }: Stored<KubeObject>,
  { blueprint: { owner } }: Pick<Deed, 'blueprint'>,
): boolean {
  const { deletionTimestamp, ownerReferences = [] } = metadata;
  const isFormer = ({ kind, name, uid }: (typeof ownerReferences)[number]): boolean =>
    kind === owner.kind && name === owner.name && uid !== owner.uid;
  return deletionTimestamp !== undefined || ownerReferences.some(isFormer);
}

/** How long after its time somebody may still be about to go, without a word. */
const longestToGoMillis = 60_000;

/** It was told to go, has had the time for it, and is there. */
export function isOverdue({ metadata }: Stored<KubeObject>, { tools }: Pick<Deed, 'tools'>): boolean {
  const { deletionTimestamp } = metadata;
  return deletionTimestamp !== undefined && tools.now().getTime() - Date.parse(deletionTimestamp) > longestToGoMillis;
}

const remedies = { Pod: 'see to its node, or delete it with --force', PersistentVolumeClaim: 'see what still uses it' };

export const doesNotGo = (kind: keyof typeof remedies, name: string): string =>
  `${kind} ${name} of a cluster of this name that was deleted does not go: ${remedies[kind]}`;
