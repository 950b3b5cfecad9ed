import type { Blueprint } from '../../../core/manifests/manifest.ts';
import type { FileContents } from '../../../core/pki/bundle.ts';
import type { Secret, Stored } from '../../../kube/object.ts';
import { secrets } from '../../../kube/resource.ts';
import { unless } from '../../../std/failure.ts';
import { isOwnedBy } from '../../../std/owner.ts';
import type { ControllerContext } from '../../shared/context.ts';
import { textOf } from './validate.ts';

/** A Secret that the operator manages. */
export interface OwnSecret {
  readonly name: string;
  readonly files: FileContents;
  readonly annotations: FileContents;
  readonly stored: Stored<Secret> | undefined;
}

/** `foreign`: a Secret of this name exists and belongs to another owner. It is not overwritten. */
export async function readOwnSecret(
  name: string,
  { intent: { namespace, uid } }: Blueprint,
  { client }: Pick<ControllerContext, 'client'>,
): Promise<OwnSecret | 'foreign'> {
  const stored = await unless('not-found', client.get(secrets, { namespace, name }), undefined);
  if (stored === undefined) return { name, files: {}, annotations: {}, stored };
  if (!isOwnedBy(stored, uid)) return 'foreign';
  const { annotations = {} } = stored.metadata;
  const files = Object.entries(stored.data ?? {}).map(([file, content]) => [file, textOf(content)] as const);
  return { name, files: Object.fromEntries(files), annotations, stored };
}

export const foreignSecret = (name: string): string =>
  `Secret ${name} exists and does not belong to this cluster: rename one of the two`;
