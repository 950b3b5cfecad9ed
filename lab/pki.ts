import { generateKeyPairSync } from 'node:crypto';

export { type Authority, type Identity, makeAuthority, type Subject } from '../src/std/pki.ts';

/** The key pair that signs and verifies ServiceAccount tokens. */
export function makeTokenKeys(): { readonly publicKey: string; readonly privateKey: string } {
  return generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}
