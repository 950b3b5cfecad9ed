import { fingerprint } from '../desired/fingerprint.ts';
import type { CertificateNames } from '../model/template.ts';

/** A certificate, its key, and the authorities that its owner believes, each of them one PEM text. */
export interface Keyring {
  readonly certificate: string;
  readonly key: string;
  readonly authorities: readonly string[];
}

/** `peer`: members among themselves. `server`: members to their clients. `operator`: clients to members, the operator first. */
export type Holder = 'peer' | 'server' | 'operator';

/** Everything that the two sides of every connection show and believe. */
export type Bundle = Readonly<Partial<Record<Holder, Keyring>>>;

export const holders: readonly Holder[] = ['peer', 'server', 'operator'];

/** What the files of each are called where we keep them: as the original calls them. */
export const fileNames: Readonly<Record<Holder, CertificateNames>> = {
  peer: { certificate: 'peer.crt', key: 'peer.key', authority: 'peer-ca.crt' },
  server: { certificate: 'server.crt', key: 'server.key', authority: 'server-ca.crt' },
  operator: { certificate: 'etcd-client.crt', key: 'etcd-client.key', authority: 'etcd-client-ca.crt' },
};

export type Texts = Readonly<Record<string, string>>;

/** A bundle as the files of one Secret. */
export const filesOf = (bundle: Bundle): Texts =>
  Object.assign({}, ...holders.map((holder) => filesFor(fileNames[holder], bundle[holder]))) as Texts;

export const filesFor = (names: CertificateNames, keyring: Keyring | undefined): Texts =>
  keyring === undefined
    ? {}
    : {
        [names.certificate]: keyring.certificate,
        [names.key]: keyring.key,
        [names.authority]: keyring.authorities.map((authority) => `${authority}\n`).join(''),
      };

/** The reverse: a keyring of which a file is missing is not there. */
export const bundleIn = (files: Texts): Bundle =>
  Object.fromEntries(
    holders.flatMap((holder) => {
      const keyring = keyringIn(files, fileNames[holder]);
      return keyring === undefined ? [] : [[holder, keyring]];
    }),
  );

function keyringIn(files: Texts, names: CertificateNames): Keyring | undefined {
  const [certificate, key, authority] = [files[names.certificate], files[names.key], files[names.authority]];
  if (!certificate || !key || !authority) return undefined;
  return { certificate, key, authorities: authoritiesIn(authority) };
}

/** The certificates in a file, without what people write between them. */
export const authoritiesIn = (text: string): readonly string[] =>
  text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];

/** Changes with the authorities that members believe, which etcd reads only when it starts. */
export const authoritiesMark = (bundle: Bundle, inUse: readonly Holder[]): string =>
  fingerprint(inUse.map((holder) => [holder, bundle[holder]?.authorities.toSorted()]));

/** Changes with the certificates that members show, which an etcd of old reads only when it starts, too. */
export const certificatesMark = (bundle: Bundle, inUse: readonly Holder[]): string =>
  fingerprint(inUse.map((holder) => [holder, bundle[holder]?.certificate.trim()]));
