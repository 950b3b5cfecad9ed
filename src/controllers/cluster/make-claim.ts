import { claimAnnotation } from '../../core/desired/claim.ts';
import type { Manifest } from '../../core/desired/manifest.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { KubeObject, PersistentVolumeClaim, Stored } from '../../kube/object.ts';
import { persistentVolumeClaims } from '../../kube/resource.ts';
import { Failure, unless } from '../../std/failure.ts';
import { type Deed, lookUp } from './deed.ts';
import { told } from './lost-labels.ts';

/** A claim may be there already: it was left for whoever has its name, or we were killed after making it. */
export async function makeClaim(wanted: Manifest, deed: Deed): Promise<void> {
  try {
    await deed.writer.create(persistentVolumeClaims, wanted, deed);
  } catch (thrown) {
    if (!isAlreadyExists(thrown)) throw thrown;
    const { name, labels } = wanted.metadata;
    const there = await lookUp(persistentVolumeClaims, name, deed);
    if (there !== undefined && isOverdue(there, deed)) throw told('NameTaken', staysFor(name), deed);
    if (there === undefined || isAboutToGo(there, deed))
      throw new Failure('conflict', `PersistentVolumeClaim ${name} of another cluster of this name is about to go`);
    const isForIt = Object.entries(labels).every(([label, value]) => there.metadata.labels?.[label] === value);
    if (!isForIt)
      throw new Failure(
        'rejected',
        `PersistentVolumeClaim ${name} exists and is not for this member: delete or rename it`,
      );
    await replaceUnused(there, wanted, deed);
  }
}

const staysFor = (name: string): string =>
  `PersistentVolumeClaim ${name} of a cluster of this name that was deleted does not go: see what still uses it`;

/** There has never been a volume behind it, and so no data: where another kind of disk is asked for by now, it makes room. */
async function replaceUnused(there: Stored<PersistentVolumeClaim>, wanted: Manifest, deed: Deed): Promise<void> {
  const mark = claimAnnotation(deed.blueprint.naming);
  const kind = there.metadata.annotations?.[mark];
  if (there.status?.phase !== 'Pending' || kind === undefined || kind === wanted.metadata.annotations?.[mark]) return;
  const { uid, namespace, name } = there.metadata;
  const removal = deed.writer.remove(persistentVolumeClaims, { namespace, name }, { preconditions: { uid } });
  await unless('not-found', removal, undefined);
  throw new Failure('conflict', `PersistentVolumeClaim ${name}, of another kind and never used, makes room`);
}

/** It goes with a cluster of the same name that was deleted before: whoever used it would get its data, and lose it soon. */
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
