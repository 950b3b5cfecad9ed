import { describe, expect, it } from 'vitest';
import { authorityLifetime, dueOf, hasteOf, headStart, hour, type Issued } from './due.ts';

const made = Date.parse('2026-01-01T00:00:00Z');
const wish = { lifetimeHours: 90 * 24, rotate: undefined };
const lifetime = wish.lifetimeHours * hour;
const certificate = { from: made - headStart, until: made + lifetime, names: ['*.db'], wanted: ['*.db'] };
const issued: Issued = {
  authorities: [{ from: made - headStart, until: made + authorityLifetime }],
  certificates: [certificate],
  rotated: undefined,
};

describe('certificates of our own making', () => {
  it('are made with their authorities where there are none', () => {
    expect(dueOf(undefined, wish, made)).toBe('authorities');
    expect(dueOf({ ...issued, authorities: [] }, wish, made)).toBe('authorities');
  });

  it('are left alone for two thirds of their life, and then renewed', () => {
    expect(dueOf(issued, wish, made)).toBe('nothing');
    expect(dueOf(issued, wish, made + (lifetime * 2) / 3 - 1)).toBe('nothing');
    expect(dueOf(issued, wish, made + (lifetime * 2) / 3 + 1)).toBe('certificates');
    expect(dueOf(issued, wish, made + 2 * lifetime)).toBe('certificates');
  });

  it('of clusters that were made together are renewed one after the other, within a hundredth of their life', () => {
    const hastes = Array.from({ length: 200 }, (_, i) => hasteOf(`uid-${i}`));
    expect(Math.max(...hastes) - Math.min(...hastes)).toBeGreaterThan(0.9);
    expect(new Set(hastes.map((haste) => Math.floor(haste * 10))).size).toBe(10);
    const dueAt = (days: number): number =>
      hastes.filter((haste) => dueOf({ ...issued, haste }, wish, made + days * 24 * hour) !== 'nothing').length;
    expect(dueAt(59)).toBe(0);
    expect(dueAt(59.55)).toBeGreaterThan(50);
    expect(dueAt(59.55)).toBeLessThan(150);
    expect(dueAt(60.001)).toBe(200);
  });

  it('are renewed at once when they should last longer or shorter', () => {
    for (const lifetimeHours of [1, 91 * 24])
      expect(dueOf(issued, { ...wish, lifetimeHours }, made)).toBe('certificates');
    const rounded = { ...issued, certificates: [{ ...certificate, until: certificate.until - 999 }] };
    expect(dueOf(rounded, wish, made)).toBe('nothing');
  });

  it('are renewed when a single one lacks a name, and not because it bears one of before', () => {
    const wanting = (...wanted: readonly string[]): Issued => ({
      ...issued,
      certificates: [certificate, { ...certificate, wanted }],
    });
    expect(dueOf(wanting('*.db', 'localhost'), wish, made)).toBe('certificates');
    expect(dueOf(wanting('*.other'), wish, made)).toBe('certificates');
    expect(dueOf(wanting(), wish, made)).toBe('nothing');
  });

  it('get new authorities when somebody asks for it, once', () => {
    const asked = { ...wish, rotate: 'today' };
    expect(dueOf(issued, asked, made)).toBe('authorities');
    expect(dueOf({ ...issued, rotated: 'today' }, asked, made)).toBe('nothing');
    expect(dueOf({ ...issued, rotated: 'today' }, { ...wish, rotate: 'tomorrow' }, made)).toBe('authorities');
  });

  it('get no new authorities because nobody asks any more', () => {
    expect(dueOf({ ...issued, rotated: 'today' }, wish, made)).toBe('nothing');
  });

  it('get new authorities when these have lived for two thirds of their time', () => {
    const young = { ...certificate, from: made + 6.5 * 365 * 24 * hour - headStart };
    const certificates = [{ ...young, until: young.from + headStart + lifetime }];
    expect(dueOf({ ...issued, certificates }, wish, made + 6.5 * 365 * 24 * hour)).toBe('nothing');
    expect(dueOf({ ...issued, certificates }, wish, made + 6.7 * 365 * 24 * hour)).toBe('authorities');
  });
});
