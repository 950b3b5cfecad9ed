import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { CertificateNames } from '../../core/model/template.ts';

/** A Secret as the API server keeps it: values in base64. */
export interface SecretContent {
  readonly name: string;
  readonly data: Readonly<Record<string, string>>;
}

/** What a certificate is for. */
export interface Purpose {
  readonly now: Date;
  /** The names that it must bear. */
  readonly hosts: readonly Host[];
  /** Whether those who show it also judge it, by the authorities beside it. */
  readonly isAmongEquals?: boolean;
}

export interface Host {
  /** As people write it: with an asterisk in place of what changes. */
  readonly written: string;
  readonly isBorneBy: (certificate: X509Certificate) => boolean;
}

/** The name by which members are dialled. */
export const dialledHost = (domain: string): Host => ({
  written: `*.${domain}`,
  isBorneBy: (certificate) => certificate.checkHost(`member.${domain}`, { subject: 'never' }) !== undefined,
});

/**
 * What a member finds when it looks up the address of a peer: a name that ends with the cluster's domain, which we do not
 * know. A wildcard must match that; a plain name or an address may lead to the peer in ways that we cannot judge.
 */
export const lookedUpHost = (domain: string): Host => ({
  written: `*.${domain}.<cluster domain>`,
  isBorneBy: ({ subjectAltName = '' }) =>
    subjectAltName.split(', ').some((name) => name.startsWith(`DNS:*.${domain}.`) || !name.startsWith('DNS:*')),
});

/** cert-manager's names, which it cannot be told to change. */
const otherNames: CertificateNames = { certificate: 'tls.crt', key: 'tls.key', authority: 'ca.crt' };

/** What the files in a Secret are called: as the original wants it, unless only cert-manager's names are there. */
export function namesIn(data: SecretContent['data'], original: CertificateNames): CertificateNames {
  const has = (names: CertificateNames): boolean => namesOf(names).some((name) => data[name] !== undefined);
  return has(original) || !has(otherNames) ? original : otherNames;
}

const namesOf = ({ certificate, key, authority }: CertificateNames): readonly string[] => [certificate, key, authority];

export const missingSecret = (name: string, original: CertificateNames): string =>
  `Secret ${name} does not exist: create it with ${listed(original)}, or with ${listed(otherNames)}`;

const listed = ({ certificate, key, authority }: CertificateNames): string => `${certificate}, ${key} and ${authority}`;

/** What stands in the way of using these files at all. */
export function flawIn(secret: SecretContent, names: CertificateNames): string | undefined {
  const empty = namesOf(names).flatMap((name) => emptiness(secret, name) ?? [])[0];
  if (empty !== undefined) return empty;
  const [certificate, key] = [certificateIn(secret, names.certificate), keyIn(secret, names.key)];
  if (certificate === undefined) return about(secret, names.certificate, 'is not a certificate in PEM');
  if (key === undefined) return about(secret, names.key, 'is not a private key in PEM without a passphrase');
  if (!certificate.checkPrivateKey(key))
    return about(secret, names.key, `does not fit the certificate in ${names.certificate}`);
  return certificatesIn(secret, names.authority).length > 0
    ? undefined
    : about(secret, names.authority, 'holds no certificate in PEM');
}

/** What keeps others from believing a certificate that can be used: time, authority, or names. */
export function doubtAbout(secret: SecretContent, names: CertificateNames, purpose: Purpose): string | undefined {
  const { now, hosts, isAmongEquals = false } = purpose;
  const untimely = untimelyIn(secret, names, now);
  if (untimely !== undefined) return untimely;
  if (isAmongEquals && !isSignedInside(secret, names))
    return about(secret, names.certificate, `is not signed by an authority in ${names.authority}`);
  const certificate = certificateIn(secret, names.certificate);
  const missing = hosts.find(({ isBorneBy }) => certificate !== undefined && !isBorneBy(certificate));
  if (missing === undefined) return undefined;
  return about(secret, names.certificate, `lacks the name ${missing.written}: issue it with that name`);
}

/** One authority that is not out of date is enough: old ones stay beside new ones for a while. */
function untimelyIn(secret: SecretContent, names: CertificateNames, now: Date): string | undefined {
  const certificate = certificateIn(secret, names.certificate);
  const says = certificate && untimeliness(certificate, now);
  if (says !== undefined) return about(secret, names.certificate, says);
  const authorities = certificatesIn(secret, names.authority).map((authority) => untimeliness(authority, now));
  return authorities.includes(undefined) ? undefined : about(secret, names.authority, authorities[0] ?? 'is empty');
}

const about = ({ name }: SecretContent, file: string, says: string): string => `Secret ${name}: ${file} ${says}`;

function emptiness(secret: SecretContent, file: string): string | undefined {
  const content = secret.data[file];
  if (content === undefined) return about(secret, file, 'is missing: add it');
  return textOf(content).trim() === '' ? about(secret, file, 'is empty') : undefined;
}

export const textOf = (content: string | undefined): string => Buffer.from(content ?? '', 'base64').toString();

/** The first in the file is the one that is shown; others are on its way to an authority. */
const certificateIn = ({ data }: SecretContent, file: string): X509Certificate | undefined =>
  parsed(() => new X509Certificate(textOf(data[file])));

const keyIn = ({ data }: SecretContent, file: string): KeyObject | undefined =>
  parsed(() => createPrivateKey(textOf(data[file])));

const isSignedInside = (secret: SecretContent, names: CertificateNames): boolean =>
  isSigned({ secret, names }, { secret, names });

/** A Secret, and what its files are called. */
export interface Named {
  readonly secret: SecretContent;
  readonly names: CertificateNames;
}

/** Whether the certificate itself, or one of those on its way to an authority, is signed by one that the other believes. */
const isSigned = (shown: Named, by: Named): boolean =>
  certificatesIn(by.secret, by.names.authority).some((authority) =>
    certificatesIn(shown.secret, shown.names.certificate).some(
      (certificate) => certificate.checkIssued(authority) && certificate.verify(authority.publicKey),
    ),
  );

/** What keeps two sides from believing each other: each shows its certificate, and judges the other by its own authorities. */
export const distrustBetween = (one: Named, other: Named): string | undefined =>
  distrust(one, other) ?? distrust(other, one);

const distrust = (shown: Named, by: Named): string | undefined =>
  isSigned(shown, by)
    ? undefined
    : about(
        shown.secret,
        shown.names.certificate,
        `is not signed by an authority in ${by.names.authority} of Secret ${by.secret.name}`,
      );

const certificatesIn = ({ data }: SecretContent, file: string): readonly X509Certificate[] =>
  (textOf(data[file]).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).flatMap(
    (pem) => parsed(() => new X509Certificate(pem)) ?? [],
  );

/** What cannot be parsed is told by the absence of a result; OpenSSL's own words help nobody. */
function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

function untimeliness({ validFromDate, validToDate }: X509Certificate, now: Date): string | undefined {
  if (now > validToDate) return `expired on ${validToDate.toISOString()}: renew it`;
  return now < validFromDate ? `is not valid before ${validFromDate.toISOString()}` : undefined;
}
