import type { CertificateNames, MemberTemplate, Passed, SecretFiles } from '../model/template.ts';

interface Item {
  readonly key: string;
  readonly path: string;
}

interface SecretVolume {
  readonly volume: string;
  readonly files: SecretFiles;
  /** Unknown while nobody could look into the Secret. */
  readonly keys: CertificateNames | undefined;
}

const secretsOf = ({ peerTLS, clientTLS, keysFound }: MemberTemplate): readonly SecretVolume[] => [
  ...(peerTLS === undefined ? [] : [{ volume: 'member-peer-tls', files: peerTLS, keys: keysFound?.peer }]),
  ...(clientTLS === undefined ? [] : [{ volume: 'member-server-tls', files: clientTLS, keys: keysFound?.client }]),
];

/** Whatever the keys in a Secret are called, its files have the same names: the command line knows no other. */
export const secretVolumes = (template: MemberTemplate): readonly Passed[] =>
  secretsOf(template).map(({ volume, files, keys }) => ({
    name: volume,
    secret: { secretName: files.secret, items: itemsOf(files, keys ?? files) },
  }));

export const secretMounts = (template: MemberTemplate): readonly Passed[] =>
  secretsOf(template).map(({ volume, files }) => ({ name: volume, mountPath: files.mountPath, readOnly: true }));

const itemsOf = (files: CertificateNames, keys: CertificateNames): readonly Item[] => [
  { key: keys.certificate, path: files.certificate },
  { key: keys.key, path: files.key },
  { key: keys.authority, path: files.authority },
];

/** A pod's volume, as far as it matters here. */
interface Volume {
  readonly name: string;
  readonly secret?: { readonly items?: readonly Item[] };
}

/**
 * Whether a pod with these volumes sees what is in its Secrets. When a key gets another name, files that are mounted stay
 * as they were for ever: the next certificate would not arrive. A volume that names no keys shows all under their own names.
 */
export const showsSecrets = (volumes: readonly Volume[], template: MemberTemplate): boolean =>
  secretsOf(template).every(({ volume, files, keys }) => {
    const mounted = volumes.find(({ name }) => name === volume)?.secret;
    if (mounted === undefined || keys === undefined) return true;
    const items = mounted.items ?? itemsOf(files, files);
    return itemsOf(files, keys).every((item) => items.some(({ key, path }) => key === item.key && path === item.path));
  });
