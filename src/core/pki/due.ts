import { fingerprint } from '../manifests/template-hash.ts';

/**
 * What the operator has to issue: `certificates` from the current CAs, or new `authorities` (CAs) and all certificates.
 */
export type Due = 'nothing' | 'certificates' | 'authorities';

/** A period of validity, in milliseconds since 1970. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

export interface IssuedCertificate extends Span {
  readonly names: readonly string[];
  /** The DNS names that the certificate must contain. */
  readonly wanted: readonly string[];
}

/** The CAs and certificates that were issued last. */
export interface Issued {
  readonly authorities: readonly Span[];
  readonly certificates: readonly IssuedCertificate[];
  /** The last value of `rotate` for which new CAs were issued. */
  readonly rotated: string | undefined;
  /** From 0 to 1, constant for a cluster. A higher value renews a little earlier. */
  readonly renewalJitter?: number;
}

/** The part of the spec for certificates that the operator issues. */
export interface ManagedCertificates {
  readonly lifetimeHours: number;
  /** Any text. A new value requests new CAs. */
  readonly rotate: string | undefined;
}

export const hour = 3_600_000;

/** Certificates are valid from one hour before they are issued, for clocks that are behind. */
export const backdatingMillis = hour;

/** Much longer than the lifetime of any certificate: a certificate cannot outlive its CA. */
export const authorityLifetime = 10 * 365 * 24 * hour;

/** Renewals of clusters that were created together are spread over this share of the lifetime. */
const spread = 0.01;

/**
 * Certificates are renewed after two thirds of their lifetime. The last third is time to notice a failed renewal. A
 * certificate with another lifetime than the spec asks for, or without a required name, is renewed at once.
 */
export function dueOf(issued: Issued | undefined, wish: ManagedCertificates, now: number): Due {
  if (issued === undefined || issued.authorities.length === 0) return 'authorities';
  if (wish.rotate !== undefined && wish.rotate !== issued.rotated) return 'authorities';
  const least = 1 / 3 + spread * (issued.renewalJitter ?? 0);
  const isLate = ({ from, until }: Span): boolean => until - now < (until - from - backdatingMillis) * least;
  if (issued.authorities.some(isLate)) return 'authorities';
  const isDue = (each: IssuedCertificate): boolean =>
    isLate(each) || !lasts(each, wish.lifetimeHours * hour) || !bears(each);
  return issued.certificates.some(isDue) ? 'certificates' : 'nothing';
}

/** Certificates hold whole seconds only. */
const lasts = ({ from, until }: Span, lifetime: number): boolean =>
  Math.abs(until - from - backdatingMillis - lifetime) < 2_000;

/** Additional names are allowed: clients may still use earlier names. */
const bears = ({ names, wanted }: IssuedCertificate): boolean => wanted.every((name) => names.includes(name));

/** A number from 0 to 1 that is constant for a cluster. */
export const renewalJitterOf = (uid: string): number =>
  Number.parseInt(fingerprint(fingerprint(uid)).slice(-8), 16) / 2 ** 32;
