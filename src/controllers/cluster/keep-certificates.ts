import { authoritiesMark, filesOf } from '../../core/certificates/bundle.ts';
import type { Step } from '../../core/plan/cluster/step.ts';
import { pods } from '../../kube/resource.ts';
import { Failure, unless } from '../../std/failure.ts';
import { type CertificatesSeen, clientFiles, firstAnnotation, rotatedAnnotation } from './certificates.ts';
import type { Deed } from './deed.ts';
import { issueAll } from './issued-certificates.ts';
import { type Writing, writeOwnSecret } from './kept-secrets.ts';
import type { Observed } from './observe.ts';
import { ownerIndex, type Tools } from './sources.ts';

type Issue = Extract<Step, { kind: 'issue-certificates' }>;
type Staged = Extract<Step, { kind: 'stage-certificates' }>;

export const keepCertificates = (step: Issue | Staged, deed: Deed): Promise<void> =>
  step.kind === 'issue-certificates' ? issueCertificates(step, deed) : stageCertificates(step, deed);

/** What making certificates needs; of a whole pass, a part. */
export interface Certifying extends Writing {
  readonly observed: Pick<Observed, 'certificates' | 'managedCertificates'>;
  readonly tools: Pick<Tools, 'now'>;
}

/** Makes certificates, and authorities where they are due, and keeps them in a Secret that nobody mounts. */
export async function issueCertificates({ due }: Pick<Issue, 'due'>, deed: Certifying): Promise<void> {
  const { blueprint, observed, tools } = deed;
  const { issued } = seenBy(deed);
  const wish = observed.managedCertificates;
  if (issued === undefined || wish === undefined)
    throw new Failure('bug', 'there is nothing to issue certificates for');
  const files = await issueAll(issued.files, due, { blueprint, wish, now: tools.now() });
  const annotations = wish.rotate === undefined ? {} : { [rotatedAnnotation(blueprint.naming)]: wish.rotate };
  await writeOwnSecret(issued, { files, annotations }, deed);
}

async function stageCertificates({ stage }: Staged, deed: Deed): Promise<void> {
  if (stage === 'publish') return publish(seenBy(deed), deed);
  await adoptCertificates(deed);
  if (stage === 'show') await wakeKubelets(deed);
}

/** Keeps for members what is to be kept next. */
export async function adoptCertificates(deed: Certifying): Promise<void> {
  const { kept, staging, inUse } = seenBy(deed);
  if (staging === undefined) throw new Failure('bug', 'there is nothing to keep for members');
  const first = { [firstAnnotation(deed.blueprint.naming)]: authoritiesMark(staging.bundle, inUse) };
  const annotations = kept.stored === undefined ? first : {};
  await writeOwnSecret(kept, { files: filesOf(staging.bundle), annotations }, deed);
}

async function publish({ published, bundle }: CertificatesSeen, deed: Certifying): Promise<void> {
  if (published === undefined) throw new Failure('bug', 'there are no certificates of ours for clients');
  await writeOwnSecret(published, { files: clientFiles(bundle), type: 'kubernetes.io/tls' }, deed);
}

const seenBy = ({ observed: { certificates } }: Certifying): CertificatesSeen => {
  if (certificates === undefined) throw new Failure('bug', 'no certificates are kept for this cluster');
  return certificates;
};

/** A kubelet brings new files to a pod within a minute or two, and at once when something about the pod changes. */
async function wakeKubelets({ blueprint, tools, writer, signal }: Deed): Promise<void> {
  const { intent, naming } = blueprint;
  const annotations = { [`${naming.prefix}/certificates-at`]: tools.now().toISOString() };
  for (const { metadata } of tools.caches.pods.by(ownerIndex, intent.namespace, intent.uid)) {
    const at = { namespace: intent.namespace, name: metadata.name };
    const body = { metadata: { uid: metadata.uid, annotations } };
    await unless('not-found', writer.patch(pods, at, { type: 'merge', body, signal }), undefined);
  }
}
