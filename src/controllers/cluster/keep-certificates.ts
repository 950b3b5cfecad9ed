import { authoritiesMark, filesOf } from '../../core/certificates/bundle.ts';
import type { Step } from '../../core/plan/cluster/step.ts';
import { pods } from '../../kube/resource.ts';
import { Failure, unless } from '../../std/failure.ts';
import { type CertificatesSeen, clientFiles, firstAnnotation, rotatedAnnotation } from './certificates.ts';
import type { Deed } from './deed.ts';
import { issueAll } from './issued-certificates.ts';
import { writeOwnSecret } from './kept-secrets.ts';
import { ownerIndex } from './sources.ts';

type Issue = Extract<Step, { kind: 'issue-certificates' }>;
type Staged = Extract<Step, { kind: 'stage-certificates' }>;

/** Makes certificates, and authorities where they are due, and keeps them in a Secret that nobody mounts. */
export async function issueCertificates({ due }: Issue, deed: Deed): Promise<void> {
  const { blueprint, observed, tools } = deed;
  const { issued } = seenBy(deed);
  const wish = observed.managedCertificates;
  if (issued === undefined || wish === undefined)
    throw new Failure('bug', 'there is nothing to issue certificates for');
  const files = await issueAll(issued.files, due, { blueprint, wish, now: tools.now() });
  const annotations = wish.rotate === undefined ? {} : { [rotatedAnnotation(blueprint.naming)]: wish.rotate };
  await writeOwnSecret(issued, { files, annotations }, deed);
}

export async function stageCertificates({ stage }: Staged, deed: Deed): Promise<void> {
  const seen = seenBy(deed);
  if (stage === 'publish') return publish(seen, deed);
  const { kept, staging, inUse } = seen;
  if (staging === undefined) throw new Failure('bug', 'there is nothing to keep for members');
  const first = { [firstAnnotation(deed.blueprint.naming)]: authoritiesMark(staging.bundle, inUse) };
  const annotations = kept.stored === undefined ? first : {};
  await writeOwnSecret(kept, { files: filesOf(staging.bundle), annotations }, deed);
  if (stage === 'show') await wakeKubelets(deed);
}

async function publish({ published, bundle }: CertificatesSeen, deed: Deed): Promise<void> {
  if (published === undefined) throw new Failure('bug', 'there are no certificates of ours for clients');
  await writeOwnSecret(published, { files: clientFiles(bundle), type: 'kubernetes.io/tls' }, deed);
}

const seenBy = ({ observed: { certificates } }: Deed): CertificatesSeen => {
  if (certificates === undefined) throw new Failure('bug', 'no certificates are kept for this cluster');
  return certificates;
};

/** A kubelet brings new files to a pod within a minute or two, and at once when something about the pod changes. */
async function wakeKubelets({ blueprint, tools, writer, signal }: Deed): Promise<void> {
  const { intent, naming } = blueprint;
  const annotations = { [`${naming.prefix}/certificates-at`]: tools.now().toISOString() };
  for (const { metadata } of tools.caches.pods.by(ownerIndex, intent.uid)) {
    const at = { namespace: intent.namespace, name: metadata.name };
    const body = { metadata: { uid: metadata.uid, annotations } };
    await unless('not-found', writer.patch(pods, at, { type: 'merge', body, signal }), undefined);
  }
}
