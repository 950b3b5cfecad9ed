import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import { bundleIn } from '../../../core/pki/bundle.ts';
import { dueIn, type Issuing, issueAll } from './issue.ts';

const day = 24 * 3_600_000;
const now = new Date('2026-01-01T00:00:00.789Z');

function issuing(managed: object = {}, pod: object = {}): Issuing {
  const metadata = { name: 'db', namespace: 'default', uid: 'u' };
  const read = coreos.read({ metadata, spec: { size: 3, version: '3.5.35', TLS: { managed }, pod } });
  if (!read.ok || read.value.managedCertificates === undefined) throw new Error('not managed');
  return { blueprint: read.value.blueprint, settings: read.value.managedCertificates, now };
}

const certificateIn = (files: Readonly<Record<string, string>>, file: string) => new X509Certificate(files[file] ?? '');

describe('certificates that the operator issues', async () => {
  const files = await issueAll({}, 'authorities', issuing());

  it('are complete, and not due for two months', () => {
    expect(dueIn({}, undefined, issuing())).toBe('authorities');
    expect(dueIn(files, undefined, issuing())).toBe('nothing');
    const after = (days: number) => ({ ...issuing(), now: new Date(now.getTime() + days * day) });
    expect(dueIn(files, undefined, after(59))).toBe('nothing');
    expect(dueIn(files, undefined, after(61))).toBe('certificates');
  });

  it('cover future members, Services and localhost', () => {
    const hasName = (file: string, host: string) => certificateIn(files, file).checkHost(host) !== undefined;
    for (const host of ['db-abc.db.default.svc', 'db-abc.db.default.svc.cluster.local', 'db.default.svc'])
      expect(hasName('peer.crt', host), host).toBe(true);
    for (const host of ['db-abc.db.default.svc', 'db-client', 'db-client.default.svc', 'localhost'])
      expect(hasName('server.crt', host), host).toBe(true);
    expect(hasName('server.crt', 'db-abc.other.default.svc')).toBe(false);
    expect(certificateIn(files, 'etcd-client.crt').subjectAltName).toBeUndefined();
  });

  it('for clients are not trusted by peers', () => {
    const isOf = (certificate: string, authority: string) =>
      certificateIn(files, certificate).verify(certificateIn(files, authority).publicKey);
    expect(isOf('etcd-client.crt', 'server-ca.crt')).toBe(true);
    expect(isOf('server.crt', 'etcd-client-ca.crt')).toBe(true);
    expect(isOf('peer.crt', 'peer-ca.crt')).toBe(true);
    expect(isOf('etcd-client.crt', 'peer-ca.crt')).toBe(false);
  });

  it('are renewed with the same CAs', async () => {
    const renewed = await issueAll(files, 'certificates', issuing({ certificateLifetimeHours: 24 }));
    expect(bundleIn(renewed).peer?.authorities).toEqual(bundleIn(files).peer?.authorities);
    expect(renewed['peer.crt']).not.toBe(files['peer.crt']);
    const { validToDate } = certificateIn(renewed, 'server.crt');
    expect(validToDate).toEqual(new Date('2026-01-02T00:00:00Z'));
    expect(certificateIn(renewed, 'server.crt').verify(certificateIn(files, 'client-authority.crt').publicKey)).toBe(
      true,
    );
  });

  it('have the names of the old and the new domain after a change of the domain', async () => {
    const [first, second] = ['.one.example', '.two.example'].map((ClusterDomain) => issuing({}, { ClusterDomain }));
    if (first === undefined || second === undefined) throw new Error('two expected');
    const moved = await issueAll(await issueAll({}, 'authorities', first), 'certificates', second);
    for (const file of ['peer.crt', 'server.crt'])
      for (const domain of ['one', 'two']) {
        const host = `db-abc.db.default.svc.${domain}.example`;
        expect(certificateIn(moved, file).checkHost(host), `${file} ${host}`).toBeDefined();
      }
    expect(dueIn(moved, undefined, second)).toBe('nothing');
  });

  it('are due after a change of names, lifetime or rotate, or with invalid files', () => {
    expect(dueIn(files, undefined, issuing({}, { ClusterDomain: '.example.org' }))).toBe('certificates');
    expect(dueIn(files, undefined, issuing({ certificateLifetimeHours: 24 }))).toBe('certificates');
    expect(dueIn(files, 'a', issuing({ rotate: 'b' }))).toBe('authorities');
    expect(dueIn({ ...files, 'peer.crt': 'nonsense' }, undefined, issuing())).toBe('authorities');
  });
});
