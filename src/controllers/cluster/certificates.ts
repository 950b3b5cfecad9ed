import { X509Certificate } from 'node:crypto';
import {
  authoritiesMark,
  type Bundle,
  bundleIn,
  certificatesMark,
  filesFor,
  type Holder,
  type Texts,
} from '../../core/certificates/bundle.ts';
import type { Due } from '../../core/certificates/due.ts';
import { ownSecretsOf } from '../../core/certificates/names.ts';
import { nextStage, type Staging } from '../../core/certificates/staging.ts';
import type { Certificates } from '../../core/model/cluster.ts';
import type { KeptSecret, Naming } from '../../core/model/template.ts';
import type { ReadCluster } from '../../dialects/dialect.ts';
import type { TlsIdentity } from '../../etcd/endpoint.ts';
import { isUnread, orUnread } from './fetch-secret.ts';
import { dueIn } from './issued-certificates.ts';
import { foreignSecret, type OwnSecret, readOwnSecret } from './kept-secrets.ts';
import type { SecretsSeen } from './secrets.ts';
import type { Tools } from './sources.ts';

/** The Secrets of ours behind a cluster's certificates, and what there is to do about them. */
export interface CertificatesSeen {
  readonly kept: OwnSecret;
  /** Only where we make certificates ourselves. */
  readonly issued: OwnSecret | undefined;
  readonly published: OwnSecret | undefined;
  readonly due: Due;
  readonly staging: Staging | undefined;
  readonly isPublished: boolean;
  readonly haveExpired: boolean;
  readonly bundle: Bundle | undefined;
  readonly inUse: readonly Holder[];
}

export interface Looked {
  readonly seen?: CertificatesSeen;
  readonly problems: readonly string[];
  /** Why a Secret of ours could not be read. */
  readonly unread?: string | undefined;
}

const nothing: Looked = { problems: [] };

interface Looking {
  readonly given: SecretsSeen;
  /** Whose certificates members use, or are about to use. */
  readonly inUse: readonly Holder[];
  /** Whose certificates nobody uses any more. */
  readonly idle: readonly Holder[];
}

/** What looking at Secrets needs. */
export type SecretTools = Pick<Tools, 'client' | 'now' | 'keepsSecrets'>;

/** Looks at what we keep for members, beside what the spec offers. Without the right to keep anything, members mount that. */
export async function lookAtCertificates(
  read: ReadCluster,
  { given, inUse, idle }: Looking,
  tools: SecretTools,
): Promise<Looked> {
  if (inUse.length === 0) return nothing;
  if (!tools.keepsSecrets) return read.managedCertificates === undefined ? nothing : { problems: [mayNotKeep] };
  const { members, issued, clients } = ownSecretsOf(read.blueprint.intent.name);
  const names = read.managedCertificates === undefined ? [members] : [members, issued, clients];
  const found = await Promise.all(names.map((name) => orUnread(name, readOwnSecret(name, read.blueprint, tools))));
  const unread = found.filter(isUnread).map((each) => each.unread);
  const problems = [...names.filter((_, index) => found[index] === 'foreign').map(foreignSecret), ...unread];
  const [kept, ours, published] = found.flatMap((each) => (each === 'foreign' || isUnread(each) ? [] : [each]));
  if (problems.length > 0 || kept === undefined) return { problems, unread: unread[0] };
  const judging = { given, idle, now: tools.now() };
  return { problems, seen: judge({ kept, issued: ours, published, inUse }, read, judging) };
}

const mayNotKeep =
  'spec.TLS.managed: the operator may not keep Secrets: grant it the rights to get, create and patch secrets';

type Found = Pick<CertificatesSeen, 'kept' | 'issued' | 'published' | 'inUse'>;

function judge(
  found: Found,
  { blueprint, managedCertificates: wish }: ReadCluster,
  { given, idle, now }: Pick<Looking, 'given' | 'idle'> & { readonly now: Date },
): CertificatesSeen {
  const { kept, issued, published } = found;
  const bundle = kept.stored === undefined ? undefined : bundleIn(kept.files);
  const rotated = issued?.annotations[rotatedAnnotation(blueprint.naming)];
  const due =
    wish === undefined || issued === undefined ? 'nothing' : dueIn(issued.files, rotated, { blueprint, wish, now });
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

/** Whether what is to follow comes after the end of what members show. */
const isLate = (
  staging: Staging | undefined,
  { bundle = {}, inUse }: Pick<CertificatesSeen, 'bundle' | 'inUse'>,
  now: Date,
): boolean =>
  staging !== undefined &&
  inUse.flatMap((holder) => bundle[holder] ?? []).some(({ certificate }) => hasExpired(certificate, now));

/** What somebody else has written into our Secret may be no certificate at all; then another takes its place anyway. */
function hasExpired(certificate: string, now: Date): boolean {
  try {
    return new X509Certificate(certificate).validToDate < now;
  } catch {
    return false;
  }
}

/** While all is made anew, what is there is no offer. */
const issuedBundle = (files: Texts, due: Due): Bundle | undefined => (due === 'nothing' ? bundleIn(files) : undefined);

/** The names that Kubernetes and cert-manager give to such files. */
const published = { certificate: 'tls.crt', key: 'tls.key', authority: 'ca.crt' } as const;

export const clientFiles = (bundle: Bundle | undefined): Texts => filesFor(published, bundle?.operator);

const isSame = (one: Texts, other: Texts): boolean =>
  Object.keys(other).every((file) => one[file] === other[file]) &&
  Object.keys(one).length === Object.keys(other).length;

/** On our Secret of authorities: the text in the spec that was last obeyed. */
export const rotatedAnnotation = ({ prefix }: Naming): string => `${prefix}/rotated`;

/** On our Secret for members: the mark of the authorities that were in it first. */
export const firstAnnotation = ({ prefix }: Naming): string => `${prefix}/believed-at-first`;

/** What new bodies mount; nothing as long as it is not there. */
export function keptSecret({ kept, bundle, inUse }: CertificatesSeen, naming: Naming): KeptSecret | undefined {
  if (bundle === undefined) return undefined;
  const believed = authoritiesMark(bundle, inUse);
  const believedAtFirst = kept.annotations[firstAnnotation(naming)] ?? believed;
  return { secret: kept.name, believed, believedAtFirst, shown: certificatesMark(bundle, inUse) };
}

/** How the operator enters, by what is kept: what it offers itself may not be believed yet. */
export function entryWith({ bundle }: CertificatesSeen): TlsIdentity | undefined {
  const ours = bundle?.operator;
  return ours && { ca: ours.authorities.join('\n'), cert: ours.certificate, key: ours.key };
}

export function certificatesFor(
  { due, staging, isPublished, haveExpired, bundle, inUse }: CertificatesSeen,
  isShownByAll: boolean,
): Certificates {
  const believed = bundle === undefined ? undefined : authoritiesMark(bundle, inUse);
  const next = bundle !== undefined && !isPublished ? 'publish' : staging?.stage;
  return { due, next, believed, isShownByAll, haveExpired };
}
