import { X509Certificate } from 'node:crypto';
import type { ReadCluster } from '../../../apis/common/dialect.ts';
import type { Certificates } from '../../../core/cluster/model/cluster.ts';
import type { MemberSecret, Naming } from '../../../core/cluster/model/template.ts';
import {
  type Bundle,
  bundleIn,
  caBundleHash,
  certificateHash,
  type FileContents,
  filesFor,
  type Holder,
} from '../../../core/pki/bundle.ts';
import type { Due } from '../../../core/pki/due.ts';
import { ownSecretsOf } from '../../../core/pki/names.ts';
import { nextStage, type Staging } from '../../../core/pki/staging.ts';
import type { TlsIdentity } from '../../../etcd/endpoint.ts';
import type { ControllerContext } from '../../shared/context.ts';
import { isUnread, orUnread } from '../../shared/secret-reader.ts';
import { dueIn } from './issue.ts';
import { foreignSecret, type OwnSecret, readOwnSecret } from './managed-secret.ts';
import type { NamedSecrets } from './read-secrets.ts';

/** The managed Secrets with the certificates of a cluster, and the pending work on them. */
export interface CertificatesSeen {
  readonly kept: OwnSecret;
  /** Set only if the operator issues certificates. */
  readonly issued: OwnSecret | undefined;
  readonly published: OwnSecret | undefined;
  readonly due: Due;
  readonly staging: Staging | undefined;
  readonly isPublished: boolean;
  readonly haveExpired: boolean;
  readonly bundle: Bundle | undefined;
  readonly inUse: readonly Holder[];
}

export interface CertificatesResult {
  readonly seen?: CertificatesSeen;
  readonly problems: readonly string[];
  /** Why a managed Secret could not be read. */
  readonly unread?: string | undefined;
}

const nothing: CertificatesResult = { problems: [] };

interface Inputs {
  readonly given: NamedSecrets;
  /** The holders whose certificates members use, or will use. */
  readonly inUse: readonly Holder[];
  /** The holders whose certificates are no longer used. */
  readonly idle: readonly Holder[];
}

/** The part of a controller context that reading Secrets needs. */
export type SecretContext = Pick<ControllerContext, 'client' | 'now' | 'mayWriteSecrets'>;

/** Reads the managed Secrets. Without the right to write Secrets, members mount the Secrets of the spec. */
export async function observeCertificates(
  read: ReadCluster,
  { given, inUse, idle }: Inputs,
  context: SecretContext,
): Promise<CertificatesResult> {
  if (inUse.length === 0) return nothing;
  if (!context.mayWriteSecrets) return read.managedCertificates === undefined ? nothing : { problems: [missingRights] };
  const { members, issued, clients } = ownSecretsOf(read.blueprint.intent.name);
  const names = read.managedCertificates === undefined ? [members] : [members, issued, clients];
  const found = await Promise.all(names.map((name) => orUnread(name, readOwnSecret(name, read.blueprint, context))));
  const unread = found.filter(isUnread).map((each) => each.unread);
  const problems = [...names.filter((_, index) => found[index] === 'foreign').map(foreignSecret), ...unread];
  const [kept, ours, published] = found.flatMap((each) => (each === 'foreign' || isUnread(each) ? [] : [each]));
  if (problems.length > 0 || kept === undefined) return { problems, unread: unread[0] };
  const judging = { given, idle, now: context.now() };
  return { problems, seen: judge({ kept, issued: ours, published, inUse }, read, judging) };
}

const missingRights =
  'spec.TLS.managed: the operator may not write Secrets: grant it the rights to get, create and patch secrets';

type Found = Pick<CertificatesSeen, 'kept' | 'issued' | 'published' | 'inUse'>;

function judge(
  found: Found,
  { blueprint, managedCertificates: settings }: ReadCluster,
  { given, idle, now }: Pick<Inputs, 'given' | 'idle'> & { readonly now: Date },
): CertificatesSeen {
  const { kept, issued, published } = found;
  const bundle = kept.stored === undefined ? undefined : bundleIn(kept.files);
  const rotated = issued?.annotations[rotatedAnnotation(blueprint.naming)];
  const due =
    settings === undefined || issued === undefined
      ? 'nothing'
      : dueIn(issued.files, rotated, { blueprint, settings, now });
  const offered = issued === undefined ? given.offered : issuedBundle(issued.files, due);
  const staging = offered === undefined ? undefined : nextStage(bundle, offered, idle);
  return {
    ...found,
    due,
    bundle,
    staging,
    haveExpired: isLate(staging, { bundle, inUse: found.inUse }, now),
    isPublished: published === undefined || isSame(published.files, clientFiles(bundle)),
  };
}

/** True if a certificate in use has expired before its replacement was rolled out. */
const isLate = (
  staging: Staging | undefined,
  { bundle = {}, inUse }: Pick<CertificatesSeen, 'bundle' | 'inUse'>,
  now: Date,
): boolean =>
  staging !== undefined &&
  inUse.flatMap((holder) => bundle[holder] ?? []).some(({ certificate }) => hasExpired(certificate, now));

/** An invalid certificate does not count as expired: it is replaced anyway. */
function hasExpired(certificate: string, now: Date): boolean {
  try {
    return new X509Certificate(certificate).validToDate < now;
  } catch {
    return false;
  }
}

/** Issued certificates are not rolled out while new ones are due. */
const issuedBundle = (files: FileContents, due: Due): Bundle | undefined =>
  due === 'nothing' ? bundleIn(files) : undefined;

/** The file names of Kubernetes and cert-manager. */
const published = { certificate: 'tls.crt', key: 'tls.key', authority: 'ca.crt' } as const;

export const clientFiles = (bundle: Bundle | undefined): FileContents => filesFor(published, bundle?.operator);

const isSame = (one: FileContents, other: FileContents): boolean =>
  Object.keys(other).every((file) => one[file] === other[file]) &&
  Object.keys(one).length === Object.keys(other).length;

/** On the Secret with issued certificates: the value of `rotate` in the spec that was last applied. */
export const rotatedAnnotation = ({ prefix }: Naming): string => `${prefix}/rotated`;

/** On the Secret for members: the hash of its first CA bundle. */
export const firstAnnotation = ({ prefix }: Naming): string => `${prefix}/initial-ca-hash`;

/** The Secret that new pods mount; undefined until it exists. */
export function memberSecretOf({ kept, bundle, inUse }: CertificatesSeen, naming: Naming): MemberSecret | undefined {
  if (bundle === undefined) return undefined;
  const caHash = caBundleHash(bundle, inUse);
  const initialCaHash = kept.annotations[firstAnnotation(naming)] ?? caHash;
  return { secret: kept.name, caHash, initialCaHash, certHash: certificateHash(bundle, inUse) };
}

/** The client certificate of the operator from the Secret for members: members may not trust the newest one yet. */
export function operatorIdentity({ bundle }: CertificatesSeen): TlsIdentity | undefined {
  const ours = bundle?.operator;
  return ours && { ca: ours.authorities.join('\n'), cert: ours.certificate, key: ours.key };
}

export function certificatesFor(
  { due, staging, isPublished, haveExpired, bundle, inUse }: CertificatesSeen,
  isServedByAll: boolean,
): Certificates {
  const caHash = bundle === undefined ? undefined : caBundleHash(bundle, inUse);
  const next = bundle !== undefined && !isPublished ? 'publish' : staging?.stage;
  return { due, next, caHash, isServedByAll, haveExpired };
}
