import { X509Certificate } from 'node:crypto';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Failure } from '../std/failure.ts';
import { keysOfSecret, type StoreCredentials } from './credentials.ts';

/** Key of the Secret with the CA of a store, if it is not a public CA. */
const key = 'ca.crt';

/** Trusts that CA in the whole process. An agent opens one store only. */
export function trustCaIn(credentials: StoreCredentials): void {
  const ca = credentials.keys.get(key)?.trim();
  if (!ca) return;
  assertCertificate(ca, credentials);
  setDefaultCACertificates([...getCACertificates('default'), ca]);
}

/** Node ignores invalid certificates without an error. */
function assertCertificate(ca: string, credentials: StoreCredentials): void {
  try {
    void new X509Certificate(ca);
  } catch (error) {
    throw new Failure('rejected', `${keysOfSecret(credentials, key)} is not a certificate in PEM`, { cause: error });
  }
}
