import { fingerprint } from '../desired/fingerprint.ts';

/** What the operator has to issue anew: certificates alone, or new authorities, and with them all certificates. */
export type Due = 'nothing' | 'certificates' | 'authorities';

/** From when until when something is valid, in milliseconds. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

export interface IssuedCertificate extends Span {
  readonly names: readonly string[];
  /** The names that it should bear. */
  readonly wanted: readonly string[];
}

/** What was issued last. */
export interface Issued {
  readonly authorities: readonly Span[];
  readonly certificates: readonly IssuedCertificate[];
  /** The `rotate` that was last obeyed. */
  readonly rotated: string | undefined;
  /** From 0 to 1, and another for each cluster: those with more of it are renewed a little earlier. */
  readonly haste?: number;
}

/** What the spec says of certificates that the operator makes. */
export interface ManagedCertificates {
  readonly lifetimeHours: number;
  /** Any text; another one asks for new authorities. */
  readonly rotate: string | undefined;
}

export const hour = 3_600_000;

/** Certificates are valid from a little earlier on, for clocks that are behind. */
export const headStart = hour;

/** Much longer than any certificate, which cannot outlive its authority. */
export const authorityLifetime = 10 * 365 * 24 * hour;

/** Clusters that were made together are renewed within this share of a life. */
const spread = 0.01;

/**
 * Two thirds into its life a certificate is renewed. What is left is time for somebody to notice that it was not. One that
 * has another lifetime, or lacks a name that is wanted by now, is renewed at once.
 */
export function dueOf(issued: Issued | undefined, wish: ManagedCertificates, now: number): Due {
  if (issued === undefined || issued.authorities.length === 0) return 'authorities';
  if (wish.rotate !== undefined && wish.rotate !== issued.rotated) return 'authorities';
  const least = 1 / 3 + spread * (issued.haste ?? 0);
  const isLate = ({ from, until }: Span): boolean => until - now < (until - from - headStart) * least;
  if (issued.authorities.some(isLate)) return 'authorities';
  const isDue = (each: IssuedCertificate): boolean =>
    isLate(each) || !lasts(each, wish.lifetimeHours * hour) || !bears(each);
  return issued.certificates.some(isDue) ? 'certificates' : 'nothing';
}

/** Certificates know whole seconds only. */
const lasts = ({ from, until }: Span, lifetime: number): boolean =>
  Math.abs(until - from - headStart - lifetime) < 2_000;

/** It may bear more: those of before, by which somebody may still be called. */
const bears = ({ names, wanted }: IssuedCertificate): boolean => wanted.every((name) => names.includes(name));

/** A number from 0 to 1 that is always the same for a cluster. */
export const hasteOf = (uid: string): number => Number.parseInt(fingerprint(fingerprint(uid)).slice(-8), 16) / 2 ** 32;
