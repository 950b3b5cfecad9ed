import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { CertificateNames } from '../../../core/cluster/model/template.ts';

/** A Secret as the API server stores it, with base64 values. */
export interface SecretContent {
  readonly name: string;
  readonly data: Readonly<Record<string, string>>;
}

/** The requirements of a certificate. */
export interface Purpose {
  readonly now: Date;
  /** The required DNS names. */
  readonly hosts: readonly Host[];
  /** True for a peer certificate, which the CAs in the same Secret must have signed. */
  readonly isPeer?: boolean;
}

export interface Host {
  /** The name in messages, with an asterisk for the variable part. */
  readonly written: string;
  readonly isIn: (certificate: X509Certificate) => boolean;
}

/** The name that clients and peers dial. */
export const dialledHost = (domain: string): Host => ({
  written: `*.${domain}`,
  isIn: (certificate) => certificate.checkHost(`member.${domain}`, { subject: 'never' }) !== undefined,
});

/**
 * The name that a member finds by a reverse lookup of a peer address. It ends with the cluster domain, which the
 * operator does not know. A wildcard must match it. A plain name or an address cannot be checked, and is accepted.
 */
export const lookedUpHost = (domain: string): Host => ({
  written: `*.${domain}.<cluster domain>`,
  isIn: ({ subjectAltName = '' }) =>
    subjectAltName.split(', ').some((name) => name.startsWith(`DNS:*.${domain}.`) || !name.startsWith('DNS:*')),
});

/** The file names of cert-manager, which cannot be configured. */
const otherNames: CertificateNames = { certificate: 'tls.crt', key: 'tls.key', authority: 'ca.crt' };

/** The file names in a Secret: those of the original operator, unless only those of cert-manager exist. */
export function namesIn(data: SecretContent['data'], original: CertificateNames): CertificateNames {
  const has = (names: CertificateNames): boolean => namesOf(names).some((name) => data[name] !== undefined);
  return has(original) || !has(otherNames) ? original : otherNames;
}

const namesOf = ({ certificate, key, authority }: CertificateNames): readonly string[] => [certificate, key, authority];

export const missingSecret = (name: string, original: CertificateNames): string =>
  `Secret ${name} does not exist: create it with ${listed(original)}, or with ${listed(otherNames)}`;

const listed = ({ certificate, key, authority }: CertificateNames): string => `${certificate}, ${key} and ${authority}`;

/** Why the files cannot be used at all; undefined if they can. */
export function unusableReason(secret: SecretContent, names: CertificateNames): string | undefined {
  const empty = namesOf(names).flatMap((name) => missingReason(secret, name) ?? [])[0];
  if (empty !== undefined) return empty;
  const [certificate, key] = [certificateIn(secret, names.certificate), keyIn(secret, names.key)];
  if (certificate === undefined) return about(secret, names.certificate, 'is not a certificate in PEM');
  if (key === undefined) return about(secret, names.key, 'is not a private key in PEM without a passphrase');
  if (!certificate.checkPrivateKey(key))
    return about(secret, names.key, `does not match the certificate in ${names.certificate}`);
  return certificatesIn(secret, names.authority).length > 0
    ? undefined
    : about(secret, names.authority, 'holds no certificate in PEM');
}

/** Why others do not trust a usable certificate: its validity, its CA or its names; undefined if they trust it. */
export function distrustReason(secret: SecretContent, names: CertificateNames, purpose: Purpose): string | undefined {
  const { now, hosts, isPeer = false } = purpose;
  const invalid = validityProblem(secret, names, now);
  if (invalid !== undefined) return invalid;
  if (isPeer && !isSignedInside(secret, names))
    return about(secret, names.certificate, `is not signed by a CA in ${names.authority}`);
  const certificate = certificateIn(secret, names.certificate);
  const missing = hosts.find(({ isIn }) => certificate !== undefined && !isIn(certificate));
  if (missing === undefined) return undefined;
  return about(secret, names.certificate, `lacks the name ${missing.written}: issue it with that name`);
}

/** One valid CA is enough: an old CA stays beside a new one for a while. */
function validityProblem(secret: SecretContent, names: CertificateNames, now: Date): string | undefined {
  const certificate = certificateIn(secret, names.certificate);
  const problem = certificate && outOfValidity(certificate, now);
  if (problem !== undefined) return about(secret, names.certificate, problem);
  const authorities = certificatesIn(secret, names.authority).map((authority) => outOfValidity(authority, now));
  return authorities.includes(undefined) ? undefined : about(secret, names.authority, authorities[0] ?? 'is empty');
}

const about = ({ name }: SecretContent, file: string, problem: string): string => `Secret ${name}: ${file} ${problem}`;

function missingReason(secret: SecretContent, file: string): string | undefined {
  const content = secret.data[file];
  if (content === undefined) return about(secret, file, 'is missing: add it');
  return textOf(content).trim() === '' ? about(secret, file, 'is empty') : undefined;
}

export const textOf = (content: string | undefined): string => Buffer.from(content ?? '', 'base64').toString();

/** The first certificate in the file is the served one; the others are intermediates. */
const certificateIn = ({ data }: SecretContent, file: string): X509Certificate | undefined =>
  parsed(() => new X509Certificate(textOf(data[file])));

const keyIn = ({ data }: SecretContent, file: string): KeyObject | undefined =>
  parsed(() => createPrivateKey(textOf(data[file])));

const isSignedInside = (secret: SecretContent, names: CertificateNames): boolean =>
  isSigned({ secret, names }, { secret, names });

/** A Secret and its file names. */
export interface Named {
  readonly secret: SecretContent;
  readonly names: CertificateNames;
}

/** True if a CA of `by` has signed the certificate of `shown`, or one of its intermediates. */
const isSigned = (shown: Named, by: Named): boolean =>
  certificatesIn(by.secret, by.names.authority).some((authority) =>
    certificatesIn(shown.secret, shown.names.certificate).some(
      (certificate) => certificate.checkIssued(authority) && certificate.verify(authority.publicKey),
    ),
  );

/** Why two sides do not trust each other. Each side verifies the certificate of the other with its own CAs. */
export const trustProblem = (one: Named, other: Named): string | undefined =>
  distrust(one, other) ?? distrust(other, one);

const distrust = (shown: Named, by: Named): string | undefined =>
  isSigned(shown, by)
    ? undefined
    : about(
        shown.secret,
        shown.names.certificate,
        `is not signed by a CA in ${by.names.authority} of Secret ${by.secret.name}`,
      );

const certificatesIn = ({ data }: SecretContent, file: string): readonly X509Certificate[] =>
  (textOf(data[file]).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).flatMap(
    (pem) => parsed(() => new X509Certificate(pem)) ?? [],
  );

/** Returns undefined for invalid content: the messages of OpenSSL do not help users. */
function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

function outOfValidity({ validFromDate, validToDate }: X509Certificate, now: Date): string | undefined {
  if (now > validToDate) return `expired on ${validToDate.toISOString()}: renew it`;
  return now < validFromDate ? `is not valid before ${validFromDate.toISOString()}` : undefined;
}
