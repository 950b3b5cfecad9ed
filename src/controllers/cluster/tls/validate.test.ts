import { beforeAll, describe, expect, it } from 'vitest';
import { type Authority, type Identity, makeAuthority, type Subject } from '../../../../lab/pki.ts';
import { dialledHost, distrustReason, lookedUpHost, namesIn, trustProblem, unusableReason } from './validate.ts';

const names = { certificate: 'peer.crt', key: 'peer.key', authority: 'peer-ca.crt' };
const others = { certificate: 'tls.crt', key: 'tls.key', authority: 'ca.crt' };
const hosts = [dialledHost('db.default.svc')];
const now = new Date();
const inDays = (days: number): Date => new Date(now.getTime() + days * 24 * 3600 * 1000);

let authority: Authority;
let good: Identity;
beforeAll(async () => {
  authority = await makeAuthority('test');
  good = await issue();
});

const issue = (change: Partial<Subject> = {}): Promise<Identity> =>
  authority.issue({ commonName: 'member', dns: ['*.db.default.svc'], ...change });

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** A valid Secret, except for these files. */
const secretWith = (files: Readonly<Record<string, string | undefined>>) => {
  const all = { 'peer.crt': good.certificate, 'peer.key': good.key, 'peer-ca.crt': authority.certificate, ...files };
  const there = Object.entries(all).flatMap(([name, text]) => (text === undefined ? [] : [[name, base64(text)]]));
  return { name: 'db-peer', data: Object.fromEntries(there) as Record<string, string> };
};

const judged = (files: Readonly<Record<string, string | undefined>>): string | undefined =>
  unusableReason(secretWith(files), names) ?? distrustReason(secretWith(files), names, { now, hosts });

describe('a Secret with certificates', () => {
  it('has no problem if all files match', () => {
    expect(judged({})).toBeUndefined();
    expect(judged({ 'peer-ca.crt': `${authority.certificate}\n${authority.certificate}` })).toBeUndefined();
    expect(judged({ 'peer.crt': `${good.certificate}\n${authority.certificate}` })).toBeUndefined();
  });

  it('has no problem with a chain of 20 certificates, or authorities of 700 KiB', () => {
    const many = (count: number): string => Array.from({ length: count }, () => authority.certificate).join('\n');
    expect(judged({ 'peer.crt': `${good.certificate}\n${many(19)}` })).toBeUndefined();
    const size = Math.ceil((700 * 1024) / authority.certificate.length);
    expect(judged({ 'peer-ca.crt': many(size) })).toBeUndefined();
  });

  it.each<[string, Readonly<Record<string, string | undefined>>, string]>([
    ['a key is missing', { 'peer.key': undefined }, 'Secret db-peer: peer.key is missing: add it'],
    ['a certificate is empty', { 'peer.crt': ' \n' }, 'Secret db-peer: peer.crt is empty'],
    ['a certificate is not PEM', { 'peer.crt': 'hello' }, 'Secret db-peer: peer.crt is not a certificate in PEM'],
    [
      'a key is not PEM',
      { 'peer.key': 'hello' },
      'Secret db-peer: peer.key is not a private key in PEM without a passphrase',
    ],
    ['authorities are not PEM', { 'peer-ca.crt': 'hello' }, 'Secret db-peer: peer-ca.crt holds no certificate in PEM'],
  ])('is reported with name and key if %s', (_, files, message) => {
    expect(judged(files)).toBe(message);
  });

  it('is reported if the key does not match the certificate', async () => {
    const { key } = await issue();
    expect(judged({ 'peer.key': key })).toBe('Secret db-peer: peer.key does not match the certificate in peer.crt');
  });

  it.each<[string, Partial<Subject>, RegExp]>([
    ['has expired', { valid: { notBefore: inDays(-2), notAfter: inDays(-1) } }, /peer\.crt expired on .*: renew it$/],
    ['is not valid yet', { valid: { notBefore: inDays(1), notAfter: inDays(2) } }, /peer\.crt is not valid before /],
    ['has other names', { dns: ['db.default.svc'] }, /peer\.crt lacks the name \*\.db\.default\.svc: issue it/],
    ['has no names', { commonName: '*.db.default.svc', dns: [] }, /peer\.crt lacks the name \*\.db\.default\.svc/],
  ])('is reported if its certificate %s', async (_, change, message) => {
    const { certificate, key } = await issue(change);
    expect(judged({ 'peer.crt': certificate, 'peer.key': key })).toMatch(message);
  });
});

describe('the certificate of a peer', () => {
  const purpose = () => ({ now, hosts, isPeer: true });

  it('must be signed by a CA in the same Secret', () => {
    expect(distrustReason(secretWith({}), names, purpose())).toBeUndefined();
    const ownAuthority = { 'peer-ca.crt': good.certificate };
    expect(distrustReason(secretWith(ownAuthority), names, purpose())).toContain('peer.crt is not signed by');
  });

  it('is reported if another CA has signed it, also one with the same name', async () => {
    const foreignCa = await makeAuthority('test');
    const files = { 'peer-ca.crt': foreignCa.certificate };
    const message = 'Secret db-peer: peer.crt is not signed by a CA in peer-ca.crt';
    expect(distrustReason(secretWith(files), names, purpose())).toBe(message);
    const both = { 'peer-ca.crt': `${foreignCa.certificate}\n${authority.certificate}` };
    expect(distrustReason(secretWith(both), names, purpose())).toBeUndefined();
  });
});

describe('the certificate of a peer with reverse lookup', () => {
  it.each<[string, readonly string[], boolean]>([
    ['the short wildcard alone', ['*.db.default.svc'], false],
    ['the wildcard with a domain', ['*.db.default.svc', '*.db.default.svc.cluster.local'], true],
    ['the wildcard of another cluster', ['*.db.default.svc', '*.db2.default.svc.cluster.local'], false],
    ['a plain name that may resolve to it', ['*.db.default.svc', 'db.default.svc'], true],
  ])('may have %s', async (_, dns, isEnough) => {
    const { certificate, key } = await issue({ dns });
    const secret = secretWith({ 'peer.crt': certificate, 'peer.key': key });
    const problem = distrustReason(secret, names, { now, hosts: [...hosts, lookedUpHost('db.default.svc')] });
    const message = 'lacks the name *.db.default.svc.<cluster domain>: issue it with that name';
    expect(problem).toBe(isEnough ? undefined : `Secret db-peer: peer.crt ${message}`);
  });
});

describe('members and the operator', () => {
  const secretOf = async (name: string, by: Authority, caHash: Authority) => {
    const { certificate, key } = await by.issue({ commonName: name });
    const files = { 'peer.crt': certificate, 'peer.key': key, 'peer-ca.crt': caHash.certificate };
    return { secret: { ...secretWith(files), name }, names };
  };

  it('trust each other with one CA or with two', async () => {
    const other = await makeAuthority('other');
    const same = [
      await secretOf('server', authority, authority),
      await secretOf('client', authority, authority),
    ] as const;
    const crossed = [await secretOf('server', authority, other), await secretOf('client', other, authority)] as const;
    expect([trustProblem(...same), trustProblem(...crossed)]).toEqual([undefined, undefined]);
  });

  it('are reported with Secret and key if one does not trust the other', async () => {
    const foreignCa = await makeAuthority('test');
    const server = await secretOf('server', authority, authority);
    expect(trustProblem(server, await secretOf('client', authority, foreignCa))).toBe(
      'Secret server: peer.crt is not signed by a CA in peer-ca.crt of Secret client',
    );
    expect(trustProblem(server, await secretOf('client', foreignCa, authority))).toBe(
      'Secret client: peer.crt is not signed by a CA in peer-ca.crt of Secret server',
    );
  });
});

describe('the names of the files', () => {
  it('are those of the original, or those of cert-manager if only they exist', () => {
    expect(namesIn(secretWith({}).data, names)).toBe(names);
    expect(namesIn({ 'tls.crt': '', 'tls.key': '', 'ca.crt': '' }, names)).toEqual(others);
    expect(namesIn({ 'tls.key': '', 'peer.key': '' }, names)).toBe(names);
    expect(namesIn({}, names)).toBe(names);
  });
});
