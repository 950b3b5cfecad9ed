import { describe, expect, it } from 'vitest';
import { aWorld, peerURLOf } from '../../../test/support/worlds.ts';
import { confirmDomain, confirmHost } from './known-hosts.ts';

const before = 'http://db-1.db.default.svc:2380';
const after = 'http://db-1.db.default.svc.cluster.local:2380';
const known =
  (names: Readonly<Record<string, readonly string[]>>) =>
  async (host: string): Promise<readonly string[]> =>
    names[host] ?? [];
const there = { 'db-1.db.default.svc': ['10.0.0.1'] };

describe('another name for a member', () => {
  it.each([
    ['leads to it', after, { ...there, 'db-1.db.default.svc.cluster.local': ['fd00::1', '10.0.0.1'] }],
    ['is the same for another kind of connection', before.replace('http', 'https'), {}],
    ['cannot be judged, where its old one cannot be looked up either', after, {}],
  ])('is used when it %s', async (_, to, names) => {
    await expect(confirmHost(before, to, known(names))).resolves.toBeUndefined();
  });

  it.each([
    ['nobody knows it', there],
    ['it leads elsewhere', { ...there, 'db-1.db.default.svc.cluster.local': ['192.0.2.1'] }],
  ])('is not used when %s, as the others would lose it', async (_, names) => {
    await expect(confirmHost(before, after, known(names))).rejects.toMatchObject({ kind: 'rejected' });
  });
});

describe('a domain for a newcomer', () => {
  const asked = (domain: string) => ({
    peerURLOf: (name: Parameters<typeof peerURLOf>[0]) => peerURLOf(name).replace('.svc', `.svc${domain}`),
  });
  const everybody = async (host: string): Promise<readonly string[]> =>
    /\.svc(?:\.cluster\.local)?$/.test(host) ? ['10.0.0.1'] : [];

  it('is used when whoever leads could go by it', async () => {
    await expect(confirmDomain(aWorld(), asked('.cluster.local'), everybody)).resolves.toBeUndefined();
  });

  it('is not used when whoever leads could not, as nobody would find the newcomer', async () => {
    await expect(confirmDomain(aWorld(), asked('.cluster.locl'), everybody)).rejects.toThrow('.svc.cluster.locl');
  });
});
