import { ownSecretsOf } from '../../core/certificates/names.ts';
import type { RestoreVerdict } from '../../core/plan/restore/step.ts';
import type { ReadRestore } from '../../dialects/restore-dialect.ts';
import { secrets } from '../../kube/resource.ts';
import { unless } from '../../std/failure.ts';
import { adoptCertificates, issueCertificates } from '../cluster/keep-certificates.ts';
import type { Writer } from '../cluster/writer.ts';
import { isOwnedBy } from './bodies.ts';
import type { ObservedRestore } from './observe.ts';
import type { RestoreTools } from './sources.ts';
import type { Target } from './target.ts';

interface Certifying extends ObservedRestore {
  readonly read: ReadRestore;
  readonly tools: RestoreTools;
  readonly writer: Writer;
}

/**
 * A cluster that is made of a backup may have certificates of the operator's own making, and its first member needs them
 * before the cluster is there. Until then they belong to that member, and go with it if nothing comes of it.
 */
export async function withCertificates(verdict: RestoreVerdict, deed: Certifying): Promise<RestoreVerdict> {
  const { target, world } = deed;
  if (!isMaking(deed) || target === undefined || typeof world.cluster === 'string') return verdict;
  const { seed } = world.cluster;
  if (seed === undefined || verdict.is === 'enter') return verdict;
  if (await handedOn(target, seed.uid, deed)) return waiting('handing on the certificates');
  return (await made(target, deed)) ? waiting('making certificates') : verdict;
}

const isMaking = ({ read: { intent, memory }, target }: Certifying): boolean =>
  intent.into === 'new' &&
  (memory.phase === 'seeding' || memory.phase === 'switching') &&
  target?.read.managedCertificates !== undefined;

const waiting = (message: string): RestoreVerdict => ({ is: 'wait', message });

/** Whether anything was missing: first authorities and certificates, then what members mount of them. */
async function made({ certificates, read }: Target, { tools, writer }: Certifying): Promise<boolean> {
  if (certificates === undefined) return false;
  const { blueprint, managedCertificates } = read;
  const signal = AbortSignal.timeout(10_000);
  const certifying = { blueprint, observed: { certificates, managedCertificates }, tools, writer, signal };
  const { due, kept } = certificates;
  if (due !== 'nothing') await issueCertificates({ due }, certifying);
  else if (kept.stored === undefined) await adoptCertificates(certifying);
  else return false;
  return true;
}

/** Whether anything was the first member's that is the cluster's from now on. */
async function handedOn({ object, certificates, read }: Target, seed: string, deed: Certifying): Promise<boolean> {
  if (object === undefined || certificates !== undefined) return false;
  const { intent, owner } = read.blueprint;
  const { namespace } = intent;
  const { members, issued } = ownSecretsOf(intent.name);
  let isAny = false;
  for (const name of [members, issued]) {
    const secret = await unless('not-found', deed.tools.client.get(secrets, { namespace, name }), undefined);
    if (secret === undefined || !isOwnedBy(secret, seed)) continue;
    const body = { metadata: { uid: secret.metadata.uid, ownerReferences: [owner] } };
    await deed.writer.patch(secrets, { namespace, name }, { type: 'merge', body });
    isAny = true;
  }
  return isAny;
}
