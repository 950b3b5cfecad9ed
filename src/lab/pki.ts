import { generateKeyPairSync } from 'node:crypto';

export { type Authority, type Identity, makeAuthority, type Subject } from '../std/pki.ts';

/** The key pair with which the API server signs the tokens of service accounts. */
export function makeTokenKeys(): { readonly publicKey: string; readonly privateKey: string } {
  return generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}
