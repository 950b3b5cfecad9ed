import type { Step } from '../../../core/cluster/plan/step.ts';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import type { FileContents } from '../../../core/pki/bundle.ts';
import { isAlreadyExists } from '../../../kube/errors.ts';
import { secrets } from '../../../kube/resource.ts';
import { Failure, unless } from '../../../std/failure.ts';
import type { Writer } from '../../shared/writer.ts';
import { type OwnSecret, readOwnSecret } from '../tls/managed-secret.ts';
import type { StepContext } from './step-context.ts';

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

/** The preconditions protect a Secret that was recreated under the same name. */
export async function deleteSecrets(
  { names }: Extract<Step, { kind: 'drop-secrets' }>,
  context: StepContext,
): Promise<void> {
  const { blueprint, controller, writer, signal } = context;
  const { namespace } = blueprint.intent;
  for (const name of names) {
    const found = await readOwnSecret(name, blueprint, controller);
    if (found === 'foreign' || found.stored === undefined) continue;
    const { uid, resourceVersion } = found.stored.metadata;
    const preconditions = { uid, resourceVersion };
    await unless('not-found', writer.remove(secrets, { namespace, name }, { preconditions, signal }), undefined);
  }
}
