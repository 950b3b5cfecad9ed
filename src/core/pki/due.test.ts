import { describe, expect, it } from 'vitest';
import { authorityLifetime, backdatingMillis, dueOf, hour, type Issued, renewalJitterOf } from './due.ts';

const made = Date.parse('2026-01-01T00:00:00Z');
const wish = { lifetimeHours: 90 * 24, rotate: undefined };
const lifetime = wish.lifetimeHours * hour;
const certificate = { from: made - backdatingMillis, until: made + lifetime, names: ['*.db'], wanted: ['*.db'] };
const issued: Issued = {
  authorities: [{ from: made - backdatingMillis, until: made + authorityLifetime }],
  certificates: [certificate],
  rotated: undefined,
};

describe('certificates issued by the operator', () => {
  it('are issued together with new CAs if there are none', () => {
    expect(dueOf(undefined, wish, made)).toBe('authorities');
    expect(dueOf({ ...issued, authorities: [] }, wish, made)).toBe('authorities');
  });

  it('are renewed after two thirds of their lifetime, and not before', () => {
    expect(dueOf(issued, wish, made)).toBe('nothing');
    expect(dueOf(issued, wish, made + (lifetime * 2) / 3 - 1)).toBe('nothing');
    expect(dueOf(issued, wish, made + (lifetime * 2) / 3 + 1)).toBe('certificates');
    expect(dueOf(issued, wish, made + 2 * lifetime)).toBe('certificates');
  });

  it('of clusters created together are renewed at different times, within a hundredth of the lifetime', () => {
    const hastes = Array.from({ length: 200 }, (_, i) => renewalJitterOf(`uid-${i}`));
    expect(Math.max(...hastes) - Math.min(...hastes)).toBeGreaterThan(0.9);
    expect(new Set(hastes.map((renewalJitter) => Math.floor(renewalJitter * 10))).size).toBe(10);
    const dueAt = (days: number): number =>
      hastes.filter((renewalJitter) => dueOf({ ...issued, renewalJitter }, wish, made + days * 24 * hour) !== 'nothing')
        .length;
    expect(dueAt(59)).toBe(0);
    expect(dueAt(59.55)).toBeGreaterThan(50);
    expect(dueAt(59.55)).toBeLessThan(150);
    expect(dueAt(60.001)).toBe(200);
  });

  it('are renewed at once when the requested lifetime changes', () => {
    for (const lifetimeHours of [1, 91 * 24])
      expect(dueOf(issued, { ...wish, lifetimeHours }, made)).toBe('certificates');
    const rounded = { ...issued, certificates: [{ ...certificate, until: certificate.until - 999 }] };
    expect(dueOf(rounded, wish, made)).toBe('nothing');
  });

  it('are renewed when one certificate lacks a required name, and keep names that are no longer required', () => {
    const wanting = (...wanted: readonly string[]): Issued => ({
      ...issued,
      certificates: [certificate, { ...certificate, wanted }],
    });
    expect(dueOf(wanting('*.db', 'localhost'), wish, made)).toBe('certificates');
    expect(dueOf(wanting('*.other'), wish, made)).toBe('certificates');
    expect(dueOf(wanting(), wish, made)).toBe('nothing');
  });

  it('get new CAs once for each new value of rotate', () => {
    const asked = { ...wish, rotate: 'today' };
    expect(dueOf(issued, asked, made)).toBe('authorities');
    expect(dueOf({ ...issued, rotated: 'today' }, asked, made)).toBe('nothing');
    expect(dueOf({ ...issued, rotated: 'today' }, { ...wish, rotate: 'tomorrow' }, made)).toBe('authorities');
  });

  it('get no new CAs when rotate is removed from the spec', () => {
    expect(dueOf({ ...issued, rotated: 'today' }, wish, made)).toBe('nothing');
  });

  it('get new CAs after two thirds of the CA lifetime', () => {
    const young = { ...certificate, from: made + 6.5 * 365 * 24 * hour - backdatingMillis };
    const certificates = [{ ...young, until: young.from + backdatingMillis + lifetime }];
    expect(dueOf({ ...issued, certificates }, wish, made + 6.5 * 365 * 24 * hour)).toBe('nothing');
    expect(dueOf({ ...issued, certificates }, wish, made + 6.7 * 365 * 24 * hour)).toBe('authorities');
  });
});
