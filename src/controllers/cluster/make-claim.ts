import { claimAnnotation } from '../../core/desired/claim.ts';
import { isKept } from '../../core/desired/kept-claim.ts';
import type { Manifest } from '../../core/desired/manifest.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { PersistentVolumeClaim, Stored } from '../../kube/object.ts';
import { persistentVolumeClaims } from '../../kube/resource.ts';
import { Failure, unless } from '../../std/failure.ts';
import { type Deed, lookUp } from './deed.ts';
import { doesNotGo, isAboutToGo, isOverdue } from './former-cluster.ts';
import { told } from './lost-labels.ts';

/** A claim may be there already: it was left for whoever has its name, or we were killed after making it. */
export async function makeClaim(wanted: Manifest, deed: Deed): Promise<void> {
  try {
    await deed.writer.create(persistentVolumeClaims, wanted, deed);
  } catch (thrown) {
    if (!isAlreadyExists(thrown)) throw thrown;
    const there = await lookUp(persistentVolumeClaims, wanted.metadata.name, deed);
    await replaceUnused(confirmUsable(there, wanted, deed), wanted, deed);
  }
}

type Claim = Stored<PersistentVolumeClaim>;

function confirmUsable(there: Claim | undefined, { metadata }: Manifest, deed: Deed): Claim {
  const { name, labels } = metadata;
  if (there !== undefined && isOverdue(there, deed))
    throw told('NameTaken', doesNotGo('PersistentVolumeClaim', name), deed);
  if (there === undefined || isAboutToGo(there, deed))
    throw new Failure('conflict', `PersistentVolumeClaim ${name} of another cluster of this name is about to go`);
  if (isKept(there.metadata, deed.blueprint.naming))
    throw new Failure('conflict', `PersistentVolumeClaim ${name} is kept: the member gets one of another name`);
  const isForIt = Object.entries(labels).every(([label, value]) => there.metadata.labels?.[label] === value);
  if (isForIt) return there;
  throw new Failure('rejected', `PersistentVolumeClaim ${name} exists and is not for this member: delete or rename it`);
}

/** There has never been a volume behind it, and so no data: where another kind of disk is asked for by now, it makes room. */
async function replaceUnused(there: Claim, wanted: Manifest, deed: Deed): Promise<void> {
  const mark = claimAnnotation(deed.blueprint.naming);
  const kind = there.metadata.annotations?.[mark];
  if (there.status?.phase !== 'Pending' || kind === undefined || kind === wanted.metadata.annotations?.[mark]) return;
  const { uid, resourceVersion, namespace, name } = there.metadata;
  const preconditions = { uid, resourceVersion };
  const removal = deed.writer.remove(persistentVolumeClaims, { namespace, name }, { preconditions });
  await unless('not-found', removal, undefined);
  throw new Failure('conflict', `PersistentVolumeClaim ${name}, of another kind and never used, makes room`);
}
