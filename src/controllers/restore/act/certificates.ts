import type { RestoreStep } from '../../../core/restore/step.ts';
import { secrets } from '../../../kube/resource.ts';
import { Failure } from '../../../std/failure.ts';
import { issueCertificates, stageMemberBundle } from '../../cluster/act/certificates.ts';
import type { RestoreStepContext } from './perform.ts';

/** Issues CAs and certificates, or writes them into the Secret that members mount. */
export async function prepareCertificates(
  step: Extract<RestoreStep, { readonly kind: 'issue-certificates' | 'stage-certificates' }>,
  { target, controller, writer }: RestoreStepContext,
): Promise<void> {
  const { certificates, read } = target;
  if (certificates === undefined) throw new Failure('bug', 'no managed certificates in the restored cluster');
  const { blueprint, managedCertificates } = read;
  const signal = AbortSignal.timeout(10_000);
  const issuing = { blueprint, observed: { certificates, managedCertificates }, controller, writer, signal };
  if (step.kind === 'issue-certificates') await issueCertificates(step, issuing);
  else await stageMemberBundle(issuing);
}

/** Makes the EtcdCluster the owner of Secrets that the seed owns. */
export async function transferSecrets(
  { secrets: seedSecrets }: Extract<RestoreStep, { readonly kind: 'transfer-secrets' }>,
  { read, target, writer }: RestoreStepContext,
): Promise<void> {
  const { owner } = target.read.blueprint;
  for (const { name, uid } of seedSecrets) {
    const body = { metadata: { uid, ownerReferences: [owner] } };
    await writer.patch(secrets, { namespace: read.intent.namespace, name }, { type: 'merge', body });
  }
}
