import { X509Certificate } from 'node:crypto';
import type { Blueprint } from '../../../core/manifests/manifest.ts';
import {
  type Bundle,
  bundleIn,
  type FileContents,
  fileNames,
  filesOf,
  type Holder,
  holders,
} from '../../../core/pki/bundle.ts';
import {
  authorityLifetime,
  backdatingMillis,
  type Due,
  dueOf,
  hour,
  type Issued,
  type IssuedCertificate,
  type ManagedCertificates,
  renewalJitterOf,
  type Span,
} from '../../../core/pki/due.ts';
import { namesFor } from '../../../core/pki/names.ts';
import type { Authority } from '../../../std/pki.ts';

/** Peers and clients have a CA each: peers do not trust the certificate of a client. */
const authorities = ['peer', 'client'] as const;
type AuthorityName = (typeof authorities)[number];

const authorityFiles = (name: AuthorityName) => ({
  certificate: `${name}-authority.crt`,
  key: `${name}-authority.key`,
});
const issuerOf: Readonly<Record<Holder, AuthorityName>> = { peer: 'peer', server: 'client', operator: 'client' };

export interface Issuing {
  readonly blueprint: Blueprint;
  readonly settings: ManagedCertificates;
  readonly now: Date;
}

/** Which certificates in the Secret have to be issued again. Invalid files count as missing. */
export function dueIn(files: FileContents, rotated: string | undefined, { blueprint, settings, now }: Issuing): Due {
  return dueOf(issuedIn(files, rotated, blueprint), settings, now.getTime());
}

function issuedIn(files: FileContents, rotated: string | undefined, blueprint: Blueprint): Issued | undefined {
  const names = namesFor(blueprint);
  try {
    const span = (file: string): Span => spanOf(new X509Certificate(files[file] ?? ''));
    const issued = holders.map((holder): IssuedCertificate => {
      const certificate = new X509Certificate(files[fileNames[holder].certificate] ?? '');
      return { ...spanOf(certificate), names: namesIn(certificate), wanted: names[holder] };
    });
    return {
      authorities: authorities.map((name) => span(authorityFiles(name).certificate)),
      certificates: issued,
      rotated,
      renewalJitter: renewalJitterOf(blueprint.intent.uid),
    };
  } catch {
    return undefined;
  }
}

const spanOf = ({ validFromDate, validToDate }: X509Certificate): Span => ({
  from: validFromDate.getTime(),
  until: validToDate.getTime(),
});

const namesIn = ({ subjectAltName = '' }: X509Certificate): readonly string[] =>
  subjectAltName.split(', ').flatMap((name) => (name.startsWith('DNS:') ? [name.slice('DNS:'.length)] : []));

/** The bundle for members in the Secret with issued certificates. */
export const offeredIn = (files: FileContents): Bundle => bundleIn(files);

/** Issues all certificates, and new CAs if they are due. Returns all files of the Secret. */
export async function issueAll(before: FileContents, due: Due, issuing: Issuing): Promise<FileContents> {
  // Loaded on demand: few clusters need it, and a loaded module stays in memory.
  const { authorityFrom, makeAuthority } = await import('../../../std/pki.ts');
  const { name } = issuing.blueprint.intent;
  const valid = spanFrom(issuing.now, authorityLifetime);
  const authorityOf = async (which: AuthorityName): Promise<Authority> => {
    const files = authorityFiles(which);
    const known = { certificate: before[files.certificate] ?? '', key: before[files.key] ?? '' };
    return due === 'authorities'
      ? makeAuthority(`${name} ${which} ${valid.notBefore.toISOString()}`, valid)
      : authorityFrom(known);
  };
  const made = { peer: await authorityOf('peer'), client: await authorityOf('client') };
  const kept = authorities.map((which) => {
    const files = authorityFiles(which);
    return { [files.certificate]: made[which].certificate, [files.key]: made[which].key };
  });
  return Object.assign(
    {},
    ...kept,
    filesOf(await certificatesOf(made, namesWithPrevious(before, issuing), issuing)),
  ) as FileContents;
}

/**
 * The wanted names and the names of the previous certificate. After a change of the domain, members get their new names
 * one by one, and keep the old names until then.
 */
function namesWithPrevious(before: FileContents, { blueprint }: Issuing): Readonly<Record<Holder, readonly string[]>> {
  const wanted = namesFor(blueprint);
  const both = (holder: Holder): readonly string[] => [
    ...new Set([...wanted[holder], ...namesOf(before[fileNames[holder].certificate])]),
  ];
  return { peer: both('peer'), server: both('server'), operator: both('operator') };
}

function namesOf(certificate = ''): readonly string[] {
  try {
    return namesIn(new X509Certificate(certificate));
  } catch {
    return []; // the certificate is missing or invalid
  }
}

async function certificatesOf(
  made: Readonly<Record<AuthorityName, Authority>>,
  names: Readonly<Record<Holder, readonly string[]>>,
  { blueprint, settings, now }: Issuing,
): Promise<Bundle> {
  const { name } = blueprint.intent;
  const valid = spanFrom(now, settings.lifetimeHours * hour);
  const commonNames: Readonly<Record<Holder, string>> = { peer: name, server: name, operator: `${name}-client` };
  const issued = holders.map(async (holder) => {
    const authority = made[issuerOf[holder]];
    const subject = { commonName: commonNames[holder], dns: names[holder], valid };
    const { certificate, key } = await authority.issue(subject);
    return [holder, { certificate, key, authorities: [authority.certificate.trim()] }] as const;
  });
  return Object.fromEntries(await Promise.all(issued));
}

const spanFrom = (now: Date, lifetime: number) => {
  const seconds = Math.floor(now.getTime() / 1000) * 1000;
  return { notBefore: new Date(seconds - backdatingMillis), notAfter: new Date(seconds + lifetime) };
};
