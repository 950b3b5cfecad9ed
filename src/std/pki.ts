import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

x509.cryptoProvider.set(webcrypto);

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const tenYears = 10 * 365 * 24 * 3600 * 1000;

/** A certificate and its key, both as PEM text. */
export interface Identity {
  readonly certificate: string;
  readonly key: string;
}

export interface Subject {
  readonly commonName: string;
  readonly organization?: string;
  /** The subject alternative names of a server; a client needs none. */
  readonly dns?: readonly string[];
  readonly addresses?: readonly string[];
  /** Default: from an hour ago, for ten years. */
  readonly valid?: Validity;
}

export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

export interface Authority extends Identity {
  readonly issue: (subject: Subject) => Promise<Identity>;
}

/** Creates a CA for client and server certificates. */
export async function makeAuthority(commonName: string, valid: Validity = validity()): Promise<Authority> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${commonName}`,
    keys,
    signingAlgorithm: algorithm,
    ...valid,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return {
    certificate: certificate.toString('pem'),
    key: await privatePem(keys.privateKey),
    issue: (subject) => issue(subject, certificate, keys.privateKey),
  };
}

/** Loads a CA from its certificate and key. */
export async function authorityFrom(identity: Identity): Promise<Authority> {
  const issuer = new x509.X509Certificate(identity.certificate);
  const [bytes] = x509.PemConverter.decode(identity.key);
  const key = await webcrypto.subtle.importKey('pkcs8', new Uint8Array(bytes ?? []), algorithm, false, ['sign']);
  return { ...identity, issue: (subject) => issue(subject, issuer, key) };
}

async function issue(
  subject: Subject,
  issuer: x509.X509Certificate,
  signingKey: webcrypto.CryptoKey,
): Promise<Identity> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [
      ...(subject.organization === undefined ? [] : [{ O: [subject.organization] }]),
      { CN: [subject.commonName] },
    ],
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: algorithm,
    serialNumber: `01${randomBytes(8).toString('hex')}`,
    ...(subject.valid ?? validity()),
    extensions: await leafExtensions(subject, keys.publicKey, issuer),
  });
  return { certificate: certificate.toString('pem'), key: await privatePem(keys.privateKey) };
}

async function leafExtensions(
  { dns = [], addresses = [] }: Subject,
  publicKey: webcrypto.CryptoKey,
  issuer: x509.X509Certificate,
): Promise<x509.Extension[]> {
  const names: x509.JsonGeneralName[] = [
    ...dns.map((value) => ({ type: 'dns' as const, value })),
    ...addresses.map((value) => ({ type: 'ip' as const, value })),
  ];
  return [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
    await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
  ];
}

/** Starts an hour ago, so that machines with a slow clock accept a new certificate. */
const validity = (): Validity => ({
  notBefore: new Date(Date.now() - 3_600_000),
  notAfter: new Date(Date.now() + tenYears),
});

async function privatePem(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}
