import { createPrivateKey, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeAuthority } from './pki.ts';

describe('a certificate of the test cluster', async () => {
  const authority = await makeAuthority('test authority');
  const issuer = new X509Certificate(authority.certificate);
  const { certificate, key } = await authority.issue({
    commonName: 'system:node:node1',
    organization: 'system:nodes',
    dns: ['node1'],
    addresses: ['10.250.0.11'],
  });
  const leaf = new X509Certificate(certificate);

  it('is signed by its CA and matches its key', () => {
    expect(leaf.checkIssued(issuer)).toBe(true);
    expect(leaf.verify(issuer.publicKey)).toBe(true);
    expect(leaf.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect([issuer.ca, leaf.ca]).toEqual([true, false]);
  });

  it('carries user and group in its subject as Kubernetes reads them', () => {
    expect(leaf.subject).toBe('O=system:nodes\nCN=system:node:node1');
  });

  it('is valid for the requested names and addresses only', () => {
    expect([leaf.checkHost('node1'), leaf.checkHost('node2')]).toEqual(['node1', undefined]);
    expect([leaf.checkIP('10.250.0.11'), leaf.checkIP('10.250.0.12')]).toEqual(['10.250.0.11', undefined]);
  });
});
