import { describe, expect, it } from 'vitest';
import { aWorld, peerURLOf } from '../../../../test/support/worlds.ts';
import { confirmDomain, confirmHost } from './dns-check.ts';

const before = 'http://db-1.db.default.svc:2380';
const after = 'http://db-1.db.default.svc.cluster.local:2380';
const known =
  (names: Readonly<Record<string, readonly string[]>>) =>
  async (host: string): Promise<readonly string[]> =>
    names[host] ?? [];
const there = { 'db-1.db.default.svc': ['10.0.0.1'] };

describe('a new host name of a member', () => {
  it.each([
    ['resolves to the member', after, { ...there, 'db-1.db.default.svc.cluster.local': ['fd00::1', '10.0.0.1'] }],
    ['differs only in the scheme', before.replace('http', 'https'), {}],
    ['cannot be checked, because the old name does not resolve either', after, {}],
  ])('is accepted if it %s', async (_, to, names) => {
    await expect(confirmHost(before, to, known(names))).resolves.toBeUndefined();
  });

  it.each([
    ['does not resolve', there],
    ['resolves to another address', { ...there, 'db-1.db.default.svc.cluster.local': ['192.0.2.1'] }],
  ])('is rejected if it %s', async (_, names) => {
    await expect(confirmHost(before, after, known(names))).rejects.toMatchObject({ kind: 'rejected' });
  });
});

describe('the domain of a joining member', () => {
  const asked = (domain: string) => ({
    peerURLOf: (name: Parameters<typeof peerURLOf>[0]) => peerURLOf(name).replace('.svc', `.svc${domain}`),
  });
  const resolve = async (host: string): Promise<readonly string[]> =>
    /\.svc(?:\.cluster\.local)?$/.test(host) ? ['10.0.0.1'] : [];

  it('is accepted if the name of the leader resolves with it', async () => {
    await expect(confirmDomain(aWorld(), asked('.cluster.local'), resolve)).resolves.toBeUndefined();
  });

  it('is rejected if the name of the leader does not resolve with it', async () => {
    await expect(confirmDomain(aWorld(), asked('.cluster.locl'), resolve)).rejects.toThrow('.svc.cluster.locl');
  });
});
