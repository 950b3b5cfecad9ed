import type { Blueprint } from '../../../core/manifests/manifest.ts';
import type { FileContents } from '../../../core/pki/bundle.ts';
import { isAlreadyExists } from '../../../kube/errors.ts';
import type { Secret, Stored } from '../../../kube/object.ts';
import { isOwnedBy } from '../../../kube/owner.ts';
import { secrets } from '../../../kube/resource.ts';
import { Failure, unless } from '../../../std/failure.ts';
import type { ControllerContext } from '../../shared/context.ts';
import type { Writer } from '../../shared/writer.ts';
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

export interface Writing {
  readonly blueprint: Blueprint;
  readonly writer: Writer;
  readonly signal: AbortSignal;
}

interface Content {
  readonly files: FileContents;
  readonly annotations?: FileContents;
  readonly type?: 'Opaque' | 'kubernetes.io/tls';
}

/** Replaces the content of a managed Secret. The resourceVersion that was read is a precondition. */
export async function writeOwnSecret(
  { name, stored }: OwnSecret,
  { files, annotations = {}, type = 'Opaque' }: Content,
  { blueprint, writer, signal }: Writing,
): Promise<void> {
  const { intent, owner, naming } = blueprint;
  const { namespace } = intent;
  const data = Object.fromEntries(
    Object.entries(files).map(([file, text]) => [file, Buffer.from(text).toString('base64')]),
  );
  if (stored !== undefined) {
    const gone = Object.keys(stored.data ?? {}).filter((file) => !(file in data));
    const { uid, resourceVersion } = stored.metadata;
    const body = {
      metadata: { uid, resourceVersion, annotations },
      data: { ...Object.fromEntries(gone.map((file) => [file, null])), ...data },
    };
    return writer.patch(secrets, { namespace, name }, { type: 'merge', body, signal });
  }
  const metadata = { name, namespace, labels: naming.clusterLabels, annotations, ownerReferences: [owner] };
  await writer
    .create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, type, data }, { signal })
    .catch((thrown: unknown) => {
      if (isAlreadyExists(thrown)) throw new Failure('conflict', `Secret ${name} exists already`);
      throw thrown;
    });
}
