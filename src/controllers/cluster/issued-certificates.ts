import { X509Certificate } from 'node:crypto';
import {
  type Bundle,
  bundleIn,
  fileNames,
  filesOf,
  type Holder,
  holders,
  type Texts,
} from '../../core/certificates/bundle.ts';
import {
  authorityLifetime,
  type Due,
  dueOf,
  hasteOf,
  headStart,
  hour,
  type Issued,
  type IssuedCertificate,
  type ManagedCertificates,
  type Span,
} from '../../core/certificates/due.ts';
import { namesFor } from '../../core/certificates/names.ts';
import type { Blueprint } from '../../core/desired/manifest.ts';
import type { Authority } from '../../std/pki.ts';

/** Members among themselves and their clients have an authority each: a client's certificate is worth nothing among members. */
const authorities = ['peer', 'client'] as const;
type AuthorityName = (typeof authorities)[number];

const authorityFiles = (name: AuthorityName) => ({
  certificate: `${name}-authority.crt`,
  key: `${name}-authority.key`,
});
const issuerOf: Readonly<Record<Holder, AuthorityName>> = { peer: 'peer', server: 'client', operator: 'client' };

export interface Issuing {
  readonly blueprint: Blueprint;
  readonly wish: ManagedCertificates;
  readonly now: Date;
}

/** What of the certificates in our Secret has to be made anew. Files that cannot be read are as good as none. */
export function dueIn(files: Texts, rotated: string | undefined, { blueprint, wish, now }: Issuing): Due {
  return dueOf(issuedIn(files, rotated, blueprint), wish, now.getTime());
}

function issuedIn(files: Texts, rotated: string | undefined, blueprint: Blueprint): Issued | undefined {
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
      haste: hasteOf(blueprint.intent.uid),
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

/** What the certificates in our Secret offer to members. */
export const offeredIn = (files: Texts): Bundle => bundleIn(files);

/** All files of our Secret, with new certificates, and with new authorities where they are due or cannot be used. */
export async function issueAll(before: Texts, due: Due, issuing: Issuing): Promise<Texts> {
  // Loaded only here, since few clusters need it and what is loaded stays in memory.
  const { authorityFrom, makeAuthority } = await import('../../std/pki.ts');
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
  return Object.assign({}, ...kept, filesOf(await certificatesOf(made, namesSince(before, issuing), issuing))) as Texts;
}

/**
 * Those that are wanted, and all that were before: with another domain members move to their new names one by one, and are
 * called by the old ones until then.
 */
function namesSince(before: Texts, { blueprint }: Issuing): Readonly<Record<Holder, readonly string[]>> {
  const wanted = namesFor(blueprint);
  const both = (holder: Holder): readonly string[] => [
    ...new Set([...wanted[holder], ...namesBorneBy(before[fileNames[holder].certificate])]),
  ];
  return { peer: both('peer'), server: both('server'), operator: both('operator') };
}

function namesBorneBy(certificate = ''): readonly string[] {
  try {
    return namesIn(new X509Certificate(certificate));
  } catch {
    return []; // there was none, or somebody has broken it
  }
}

async function certificatesOf(
  made: Readonly<Record<AuthorityName, Authority>>,
  names: Readonly<Record<Holder, readonly string[]>>,
  { blueprint, wish, now }: Issuing,
): Promise<Bundle> {
  const { name } = blueprint.intent;
  const valid = spanFrom(now, wish.lifetimeHours * hour);
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
  return { notBefore: new Date(seconds - headStart), notAfter: new Date(seconds + lifetime) };
};
