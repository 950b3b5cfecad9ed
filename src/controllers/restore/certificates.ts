import type { ReadRestore } from '../../apis/common/restore-dialect.ts';
import { ownSecretsOf } from '../../core/pki/names.ts';
import type { RestoreVerdict } from '../../core/restore/step.ts';
import { secrets } from '../../kube/resource.ts';
import { unless } from '../../std/failure.ts';
import { isOwnedBy } from '../../std/owner.ts';
import { issueCertificates, stageMemberBundle } from '../cluster/act/certificates.ts';
import type { Writer } from '../shared/writer.ts';
import type { RestoreContext } from './context.ts';
import type { ObservedRestore } from './observe.ts';
import type { Target } from './target.ts';

interface CertificateContext extends ObservedRestore {
  readonly read: ReadRestore;
  readonly controller: RestoreContext;
  readonly writer: Writer;
}

/**
 * Issues the certificates of a cluster that a restore creates, before its EtcdCluster exists: the seed needs them to
 * start. Until then the seed Pod owns the Secrets, so that they are deleted with it if the restore fails.
 */
export async function withCertificates(verdict: RestoreVerdict, context: CertificateContext): Promise<RestoreVerdict> {
  const { target, world } = context;
  if (!issuesCertificates(context) || target === undefined || typeof world.cluster === 'string') return verdict;
  const { seed } = world.cluster;
  if (seed === undefined || verdict.is === 'enter') return verdict;
  if (await transferSecrets(target, seed.uid, context))
    return waiting('transferring the certificate Secrets to the cluster');
  return (await issueMissing(target, context)) ? waiting('issuing certificates') : verdict;
}

const issuesCertificates = ({ read: { intent, memory }, target }: CertificateContext): boolean =>
  intent.into === 'new' &&
  (memory.phase === 'seeding' || memory.phase === 'switching') &&
  target?.read.managedCertificates !== undefined;

const waiting = (message: string): RestoreVerdict => ({ is: 'wait', message });

/** Issues CAs and certificates first, then the Secret that members mount. True if something was missing. */
async function issueMissing(
  { certificates, read }: Target,
  { controller, writer }: CertificateContext,
): Promise<boolean> {
  if (certificates === undefined) return false;
  const { blueprint, managedCertificates } = read;
  const signal = AbortSignal.timeout(10_000);
  const issuing = { blueprint, observed: { certificates, managedCertificates }, controller, writer, signal };
  const { due, kept } = certificates;
  if (due !== 'nothing') await issueCertificates({ due }, issuing);
  else if (kept.stored === undefined) await stageMemberBundle(issuing);
  else return false;
  return true;
}

/** Makes the EtcdCluster the owner of Secrets that the seed owns. True if there were any. */
async function transferSecrets(
  { object, certificates, read }: Target,
  seed: string,
  context: CertificateContext,
): Promise<boolean> {
  if (object === undefined || certificates !== undefined) return false;
  const { intent, owner } = read.blueprint;
  const { namespace } = intent;
  const { members, issued } = ownSecretsOf(intent.name);
  let isAny = false;
  for (const name of [members, issued]) {
    const secret = await unless('not-found', context.controller.client.get(secrets, { namespace, name }), undefined);
    if (secret === undefined || !isOwnedBy(secret, seed)) continue;
    const body = { metadata: { uid: secret.metadata.uid, ownerReferences: [owner] } };
    await context.writer.patch(secrets, { namespace, name }, { type: 'merge', body });
    isAny = true;
  }
  return isAny;
}
