import { fileNames } from '../certificates/bundle.ts';
import type { CertificateNames, MemberTemplate, Passed, SecretFiles } from '../model/template.ts';

interface Item {
  readonly key: string;
  readonly path: string;
}

interface SecretVolume {
  readonly volume: string;
  readonly files: SecretFiles;
  readonly secret: string;
  /** Unknown while nobody could look into the Secret. */
  readonly keys: CertificateNames | undefined;
}

function secretsOf({ peerTLS, clientTLS, keysFound, kept }: MemberTemplate): readonly SecretVolume[] {
  const secret = kept?.secret;
  const [peer, client] = kept === undefined ? [keysFound?.peer, keysFound?.client] : [fileNames.peer, fileNames.server];
  return [
    ...(peerTLS === undefined ? [] : [volumeOf('member-peer-tls', peerTLS, { secret, keys: peer })]),
    ...(clientTLS === undefined ? [] : [volumeOf('member-server-tls', clientTLS, { secret, keys: client })]),
  ];
}

const volumeOf = (
  volume: string,
  files: SecretFiles,
  { secret, keys }: { readonly secret: string | undefined; readonly keys: CertificateNames | undefined },
): SecretVolume => ({ volume, files, keys, secret: secret ?? files.secret });

/** Whatever the keys in a Secret are called, its files have the same names: the command line knows no other. */
export const secretVolumes = (template: MemberTemplate): readonly Passed[] =>
  secretsOf(template).map(({ volume, files, secret, keys }) => ({
    name: volume,
    secret: { secretName: secret, items: itemsOf(files, keys ?? files) },
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
  readonly secret?: { readonly secretName?: string; readonly items?: readonly Item[] };
}

/**
 * Whether a pod with these volumes sees what is in its Secrets. When a key gets another name, files that are mounted stay
 * as they were for ever: the next certificate would not arrive. A volume that names no keys shows all under their own names.
 * One of a Secret that the spec names, from before we kept our own, is looked at by the keys that were found in it.
 */
export const showsSecrets = (volumes: readonly Volume[], template: MemberTemplate): boolean => {
  const { kept, ...named } = template;
  const isOurs = (secret: string | undefined): boolean => kept !== undefined && kept.secret === secret;
  return secretsOf(named).every(({ volume, files, keys }) => {
    const mounted = volumes.find(({ name }) => name === volume)?.secret;
    if (mounted === undefined || keys === undefined || isOurs(mounted.secretName)) return true;
    const items = mounted.items ?? itemsOf(files, files);
    return itemsOf(files, keys).every((item) => items.some(({ key, path }) => key === item.key && path === item.path));
  });
};
