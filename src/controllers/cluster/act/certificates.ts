import type { Step } from '../../../core/cluster/plan/step.ts';
import { caBundleHash, filesOf } from '../../../core/pki/bundle.ts';
import { pods } from '../../../kube/resource.ts';
import { Failure, unless } from '../../../std/failure.ts';
import { type ControllerContext, ownerIndex } from '../../shared/context.ts';
import type { Observed } from '../observe/observe.ts';
import { issueAll } from '../tls/issue.ts';
import { type CertificatesSeen, clientFiles, firstAnnotation, rotatedAnnotation } from '../tls/member-bundle.ts';
import { type Writing, writeOwnSecret } from './secrets.ts';
import type { StepContext } from './step-context.ts';

type Issue = Extract<Step, { kind: 'issue-certificates' }>;
type Staged = Extract<Step, { kind: 'stage-certificates' }>;

export const performCertificateStep = (step: Issue | Staged, context: StepContext): Promise<void> =>
  step.kind === 'issue-certificates' ? issueCertificates(step, context) : stageCertificates(step, context);

/** The part of a step context that issuing certificates needs. */
export interface CertificateContext extends Writing {
  readonly observed: Pick<Observed, 'certificates' | 'managedCertificates'>;
  readonly controller: Pick<ControllerContext, 'now'>;
}

/** Issues certificates, and CAs if they are due, into a Secret that no pod mounts. */
export async function issueCertificates({ due }: Pick<Issue, 'due'>, context: CertificateContext): Promise<void> {
  const { blueprint, observed, controller } = context;
  const { issued } = certificatesIn(context);
  const settings = observed.managedCertificates;
  if (issued === undefined || settings === undefined) throw new Failure('bug', 'no certificates to issue');
  const files = await issueAll(issued.files, due, { blueprint, settings, now: controller.now() });
  const annotations = settings.rotate === undefined ? {} : { [rotatedAnnotation(blueprint.naming)]: settings.rotate };
  await writeOwnSecret(issued, { files, annotations }, context);
}

async function stageCertificates({ stage }: Staged, context: StepContext): Promise<void> {
  if (stage === 'publish') return publish(certificatesIn(context), context);
  await stageMemberBundle(context);
  if (stage === 'show') await wakeKubelets(context);
}

/** Writes the next stage of the bundle into the Secret for members. */
export async function stageMemberBundle(context: CertificateContext): Promise<void> {
  const { kept, staging, inUse } = certificatesIn(context);
  if (staging === undefined) throw new Failure('bug', 'no bundle to stage for members');
  const first = { [firstAnnotation(context.blueprint.naming)]: caBundleHash(staging.bundle, inUse) };
  const annotations = kept.stored === undefined ? first : {};
  await writeOwnSecret(kept, { files: filesOf(staging.bundle), annotations }, context);
}

async function publish({ published, bundle }: CertificatesSeen, context: CertificateContext): Promise<void> {
  if (published === undefined) throw new Failure('bug', 'no client certificates to publish');
  await writeOwnSecret(published, { files: clientFiles(bundle), type: 'kubernetes.io/tls' }, context);
}

const certificatesIn = ({ observed: { certificates } }: CertificateContext): CertificatesSeen => {
  if (certificates === undefined) throw new Failure('bug', 'no managed certificates in this cluster');
  return certificates;
};

/**
 * Annotates the pods, because a kubelet updates mounted files at once if the pod changes, and otherwise within two
 * minutes.
 */
async function wakeKubelets({ blueprint, controller, writer, signal }: StepContext): Promise<void> {
  const { intent, naming } = blueprint;
  const annotations = { [`${naming.prefix}/certificates-updated-at`]: controller.now().toISOString() };
  for (const { metadata } of controller.caches.pods.by(ownerIndex, intent.namespace, intent.uid)) {
    const at = { namespace: intent.namespace, name: metadata.name };
    const body = { metadata: { uid: metadata.uid, annotations } };
    await unless('not-found', writer.patch(pods, at, { type: 'merge', body, signal }), undefined);
  }
}
