import { X509Certificate } from 'node:crypto';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Failure } from '../std/failure.ts';
import { type Credentials, keysOfSecret } from './credentials.ts';

/** Under this name a Secret may hold the authority of a store's server, where that is none of the public ones. */
const key = 'ca.crt';

/** Believes that authority too, from now on and in the whole program: what opens a store does nothing else. */
export function believeAuthorityIn(credentials: Credentials): void {
  const authority = credentials.keys.get(key)?.trim();
  if (!authority) return;
  assertCertificate(authority, credentials);
  setDefaultCACertificates([...getCACertificates('default'), authority]);
}

/** Node passes over what is none. */
function assertCertificate(authority: string, credentials: Credentials): void {
  try {
    void new X509Certificate(authority);
  } catch (error) {
    throw new Failure('rejected', `${keysOfSecret(credentials, key)} is no certificate in PEM`, { cause: error });
  }
}
