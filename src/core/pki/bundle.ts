import type { CertificateNames } from '../cluster/model/template.ts';
import { fingerprint } from '../manifests/template-hash.ts';

/** A certificate, its key, and the CAs that its holder trusts, each in PEM. */
export interface Keyring {
  readonly certificate: string;
  readonly key: string;
  readonly authorities: readonly string[];
}

/**
 * `peer`: members to each other. `server`: members to clients. `operator`: the operator and other clients to members.
 */
export type Holder = 'peer' | 'server' | 'operator';

/** The certificates and trusted CAs of every holder. */
export type Bundle = Readonly<Partial<Record<Holder, Keyring>>>;

export const holders: readonly Holder[] = ['peer', 'server', 'operator'];

/** The keys in our own Secrets. They are the names that the original operator uses. */
export const fileNames: Readonly<Record<Holder, CertificateNames>> = {
  peer: { certificate: 'peer.crt', key: 'peer.key', authority: 'peer-ca.crt' },
  server: { certificate: 'server.crt', key: 'server.key', authority: 'server-ca.crt' },
  operator: { certificate: 'etcd-client.crt', key: 'etcd-client.key', authority: 'etcd-client-ca.crt' },
};

export type FileContents = Readonly<Record<string, string>>;

/** Writes a bundle as the files of one Secret. */
export const filesOf = (bundle: Bundle): FileContents =>
  Object.assign({}, ...holders.map((holder) => filesFor(fileNames[holder], bundle[holder]))) as FileContents;

export const filesFor = (names: CertificateNames, keyring: Keyring | undefined): FileContents =>
  keyring === undefined
    ? {}
    : {
        [names.certificate]: keyring.certificate,
        [names.key]: keyring.key,
        [names.authority]: keyring.authorities.map((authority) => `${authority}\n`).join(''),
      };

/** Reads a bundle from the files of a Secret. A keyring with a missing file is left out. */
export const bundleIn = (files: FileContents): Bundle =>
  Object.fromEntries(
    holders.flatMap((holder) => {
      const keyring = keyringIn(files, fileNames[holder]);
      return keyring === undefined ? [] : [[holder, keyring]];
    }),
  );

function keyringIn(files: FileContents, names: CertificateNames): Keyring | undefined {
  const [certificate, key, authority] = [files[names.certificate], files[names.key], files[names.authority]];
  if (!certificate || !key || !authority) return undefined;
  return { certificate, key, authorities: authoritiesIn(authority) };
}

/** The certificates in a PEM file. Text between the certificates is ignored. */
export const authoritiesIn = (text: string): readonly string[] =>
  text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];

/** Changes with the CAs that members trust. etcd reads CAs only at start. */
export const caBundleHash = (bundle: Bundle, inUse: readonly Holder[]): string =>
  fingerprint(inUse.map((holder) => [holder, bundle[holder]?.authorities.toSorted()]));

/** Changes with the certificates that members serve. etcd before 3.2 reads certificates only at start. */
export const certificateHash = (bundle: Bundle, inUse: readonly Holder[]): string =>
  fingerprint(inUse.map((holder) => [holder, bundle[holder]?.certificate.trim()]));
