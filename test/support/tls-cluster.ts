import { type Authority, type Identity, makeAuthority, type Subject } from '../../lab/pki.ts';
import type { TlsIdentity } from '../../src/etcd/endpoint.ts';
import { apply, read } from './api.ts';
import { type Api, coreos, manifestOf } from './apis.ts';
import { encoded } from './backups.ts';
import type { Kubectl } from './kubectl.ts';
import { watchUntil } from './waits.ts';

export interface CertifiedCluster {
  readonly name: string;
  readonly namespace: string;
  readonly size: number;
  readonly version: string;
  /** The coreos API by default. */
  readonly api?: Api;
  readonly extra?: Readonly<Record<string, unknown>>;
}

type Named = Pick<CertifiedCluster, 'name' | 'namespace'>;

/** `peer`: TLS between members. `client`: TLS between clients and members. */
export type TlsSide = 'peer' | 'client';
/** The naming of the files in a Secret: as in the original operator or as in cert-manager. */
export type FileNames = 'original' | 'cert-manager';

/** The three Secrets of a cluster, by the prefix of their file names in the original. */
export const secretFiles = ['peer', 'server', 'etcd-client'] as const;
export type SecretFile = (typeof secretFiles)[number];

/** Issues the certificates of a cluster, and writes its Secrets. */
export class Certificates {
  readonly #kubectl: Kubectl;
  readonly #cluster: Named;
  readonly authority: Authority;

  constructor(kubectl: Kubectl, cluster: Named, authority: Authority) {
    this.#kubectl = kubectl;
    this.#cluster = cluster;
    this.authority = authority;
  }

  /** The DNS names of members: first the dialled name, then the name of reverse DNS lookups. */
  get names(): readonly string[] {
    const { name, namespace } = this.#cluster;
    const members = [`*.${name}.${namespace}.svc`, `*.${name}.${namespace}.svc.cluster.local`];
    return [...members, `${name}-client.${namespace}.svc`, 'localhost'];
  }

  /** Writes all Secrets with new certificates. */
  async write(names: FileNames = 'original'): Promise<void> {
    for (const file of secretFiles) await this.writeOne(file, await this.issue(file), names);
  }

  /** Issues a valid certificate, with the changes of the test. */
  issue(file: SecretFile, change: Partial<Subject> = {}): Promise<Identity> {
    const server = { commonName: 'member', dns: this.names };
    return this.authority.issue({ ...(file === 'etcd-client' ? { commonName: 'operator' } : server), ...change });
  }

  async writeOne(file: SecretFile, { certificate, key }: Identity, names: FileNames = 'original'): Promise<void> {
    const [cert, secret, ca] =
      names === 'original' ? [`${file}.crt`, `${file}.key`, `${file}-ca.crt`] : ['tls.crt', 'tls.key', 'ca.crt'];
    await this.writeFiles(file, { [cert]: certificate, [secret]: key, [ca]: this.authority.certificate });
  }

  /** Replaces the content of the Secret. */
  async writeFiles(file: SecretFile, stringData: Readonly<Record<string, string>>): Promise<void> {
    await apply(this.#kubectl, `secret/${this.#cluster.name}-${file}`, { data: encoded(stringData) });
  }

  /** The certificate and CA of a client. */
  async client(): Promise<TlsIdentity> {
    const { certificate: cert, key } = await this.authority.issue({ commonName: 'client' });
    return { ca: this.authority.certificate, cert, key };
  }
}

export const certificatesFor = async (kubectl: Kubectl, cluster: Named): Promise<Certificates> =>
  new Certificates(kubectl, cluster, await makeAuthority(cluster.name));

/** The client access with certificate, key and CA from a Secret. */
export async function clientAccessIn(
  kubectl: Kubectl,
  secret: string,
  file = '',
): Promise<{ readonly tls: TlsIdentity }> {
  return accessOf(await read<SecretData>(kubectl, `secret/${secret}`), file);
}

interface SecretData {
  readonly data?: Readonly<Record<string, string>>;
}

function accessOf({ data = {} }: SecretData, file: string): { readonly tls: TlsIdentity } {
  const [cert, key, ca] =
    file === '' ? ['tls.crt', 'tls.key', 'ca.crt'] : [`${file}.crt`, `${file}.key`, `${file}-ca.crt`];
  const text = (name: string): string => Buffer.from(data[name] ?? '', 'base64').toString();
  return { tls: { cert: text(cert), key: text(key), ca: text(ca) } };
}

/** The TLS field of a spec. */
export function tlsOf(name: string, sides: readonly TlsSide[]): object {
  const peer = sides.includes('peer') ? { peerSecret: `${name}-peer` } : {};
  const server = sides.includes('client') ? { serverSecret: `${name}-server` } : {};
  const operator = sides.includes('client') ? { operatorSecret: `${name}-etcd-client` } : {};
  return { static: { member: { ...peer, ...server }, ...operator } };
}

/** Creates a cluster with peer and client TLS, and its Secrets. */
export async function withCertificates(kubectl: Kubectl, cluster: CertifiedCluster): Promise<Certificates> {
  const { name, size, version } = cluster;
  const certificates = await certificatesFor(kubectl, cluster);
  await certificates.write();
  const { api = coreos, extra } = cluster;
  const spec = { size, version, extra: { [api.tlsField]: tlsOf(name, ['peer', 'client']), ...extra } };
  await kubectl('apply -f -', { input: manifestOf(name, spec, api) });
  return certificates;
}

/** Waits until the member Secret of `db` has these certificates and trusts their CA only. */
export async function waitForSoleCa(kubectl: Kubectl, { authority }: Pick<Certificates, 'authority'>): Promise<void> {
  const isDone = ([secret]: readonly SecretData[]): true | undefined =>
    secret !== undefined && accessOf(secret, 'peer').tls.ca.trim() === authority.certificate.trim() ? true : undefined;
  await watchUntil(kubectl, 'secret/db-member-tls', {
    what: 'the member Secret has the new CA only',
    answer: isDone,
    seconds: 180,
  });
}
