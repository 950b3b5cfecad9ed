import type { CertificateNames, ManifestPart, MemberTemplate, SecretFiles } from '../cluster/model/template.ts';
import { fileNames } from '../pki/bundle.ts';

interface Item {
  readonly key: string;
  readonly path: string;
}

interface SecretVolume {
  readonly volume: string;
  readonly files: SecretFiles;
  readonly secret: string;
  /** Undefined if the Secret could not be read. */
  readonly keys: CertificateNames | undefined;
}

function secretsOf({ peerTLS, clientTLS, keysFound, memberSecret }: MemberTemplate): readonly SecretVolume[] {
  const secret = memberSecret?.secret;
  const [peer, client] =
    memberSecret === undefined ? [keysFound?.peer, keysFound?.client] : [fileNames.peer, fileNames.server];
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

/** Maps the keys of a Secret to the fixed file names on etcd's command line. */
export const secretVolumes = (template: MemberTemplate): readonly ManifestPart[] =>
  secretsOf(template).map(({ volume, files, secret, keys }) => ({
    name: volume,
    secret: { secretName: secret, items: itemsOf(files, keys ?? files) },
  }));

export const secretMounts = (template: MemberTemplate): readonly ManifestPart[] =>
  secretsOf(template).map(({ volume, files }) => ({ name: volume, mountPath: files.mountPath, readOnly: true }));

const itemsOf = (files: CertificateNames, keys: CertificateNames): readonly Item[] => [
  { key: keys.certificate, path: files.certificate },
  { key: keys.key, path: files.key },
  { key: keys.authority, path: files.authority },
];

/** The relevant fields of a pod volume. */
interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName?: string; readonly items?: readonly Item[] };
}

/**
 * True if the volumes of a pod map the current keys of its Secrets. After a key is renamed, mounted files never change
 * again, and a renewed certificate would not reach the pod. A volume without items mounts all keys under their own
 * names. A volume of a Secret in the spec, from before the operator kept its own, is checked against the keys in that
 * Secret.
 */
export const mapsCurrentKeys = (volumes: readonly Volume[], template: MemberTemplate): boolean => {
  const { memberSecret, ...named } = template;
  const isOurs = (secret: string | undefined): boolean => memberSecret !== undefined && memberSecret.secret === secret;
  return secretsOf(named).every(({ volume, files, keys }) => {
    const mounted = volumes.find(({ name }) => name === volume)?.secret;
    if (mounted === undefined || keys === undefined || isOurs(mounted.secretName)) return true;
    const items = mounted.items ?? itemsOf(files, files);
    return itemsOf(files, keys).every((item) => items.some(({ key, path }) => key === item.key && path === item.path));
  });
};
