import type { TlsIdentity } from '../../src/etcd/endpoint.ts';
import { type Authority, type Identity, makeAuthority, type Subject } from '../../src/lab/pki.ts';
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
  /** The book's where none is named. */
  readonly api?: Api;
  readonly extra?: Readonly<Record<string, unknown>>;
}

type Named = Pick<CertifiedCluster, 'name' | 'namespace'>;

/** `peer`: between members. `client`: between clients and members. */
export type Plane = 'peer' | 'client';
/** Whose names the files in a Secret have: those of the original operator, or those of cert-manager. */
export type FileNames = 'original' | 'cert-manager';

/** The three Secrets of a cluster, by the beginning of the original's names for the files in them. */
export const secretFiles = ['peer', 'server', 'etcd-client'] as const;
export type SecretFile = (typeof secretFiles)[number];

/** Whose certificates a cluster's Secrets hold, so that they can be made again. */
export class Certificates {
  readonly #kubectl: Kubectl;
  readonly #cluster: Named;
  readonly authority: Authority;

  constructor(kubectl: Kubectl, cluster: Named, authority: Authority) {
    this.#kubectl = kubectl;
    this.#cluster = cluster;
    this.authority = authority;
  }

  /** The names of members; first the one that is dialled, then the one that is looked up. */
  get names(): readonly string[] {
    const { name, namespace } = this.#cluster;
    const members = [`*.${name}.${namespace}.svc`, `*.${name}.${namespace}.svc.cluster.local`];
    return [...members, `${name}-client.${namespace}.svc`, 'localhost'];
  }

  /** Writes all Secrets, with fresh certificates. */
  async write(names: FileNames = 'original'): Promise<void> {
    for (const file of secretFiles) await this.writeOne(file, await this.issue(file), names);
  }

  /** A certificate as it should be, but for what the test is about. */
  issue(file: SecretFile, change: Partial<Subject> = {}): Promise<Identity> {
    const server = { commonName: 'member', dns: this.names };
    return this.authority.issue({ ...(file === 'etcd-client' ? { commonName: 'operator' } : server), ...change });
  }

  async writeOne(file: SecretFile, { certificate, key }: Identity, names: FileNames = 'original'): Promise<void> {
    const [cert, secret, ca] =
      names === 'original' ? [`${file}.crt`, `${file}.key`, `${file}-ca.crt`] : ['tls.crt', 'tls.key', 'ca.crt'];
    await this.writeFiles(file, { [cert]: certificate, [secret]: key, [ca]: this.authority.certificate });
  }

  /** Whatever was in the Secret before is gone. */
  async writeFiles(file: SecretFile, stringData: Readonly<Record<string, string>>): Promise<void> {
    await apply(this.#kubectl, `secret/${this.#cluster.name}-${file}`, { data: encoded(stringData) });
  }

  /** What a client shows and believes. */
  async client(): Promise<TlsIdentity> {
    const { certificate: cert, key } = await this.authority.issue({ commonName: 'client' });
    return { ca: this.authority.certificate, cert, key };
  }
}

export const certificatesFor = async (kubectl: Kubectl, cluster: Named): Promise<Certificates> =>
  new Certificates(kubectl, cluster, await makeAuthority(cluster.name));

/** How a client enters that reads its certificate, key and authorities from a Secret. */
export async function entryIn(kubectl: Kubectl, secret: string, file = ''): Promise<{ readonly tls: TlsIdentity }> {
  return entryOf(await read<SecretData>(kubectl, `secret/${secret}`), file);
}

interface SecretData {
  readonly data?: Readonly<Record<string, string>>;
}

function entryOf({ data = {} }: SecretData, file: string): { readonly tls: TlsIdentity } {
  const [cert, key, ca] =
    file === '' ? ['tls.crt', 'tls.key', 'ca.crt'] : [`${file}.crt`, `${file}.key`, `${file}-ca.crt`];
  const text = (name: string): string => Buffer.from(data[name] ?? '', 'base64').toString();
  return { tls: { cert: text(cert), key: text(key), ca: text(ca) } };
}

/** What a spec says of TLS. */
export function tlsOf(name: string, planes: readonly Plane[]): object {
  const peer = planes.includes('peer') ? { peerSecret: `${name}-peer` } : {};
  const server = planes.includes('client') ? { serverSecret: `${name}-server` } : {};
  const operator = planes.includes('client') ? { operatorSecret: `${name}-etcd-client` } : {};
  return { static: { member: { ...peer, ...server }, ...operator } };
}

/** Declares a cluster whose members and clients all show certificates, and makes its Secrets. */
export async function withCertificates(kubectl: Kubectl, cluster: CertifiedCluster): Promise<Certificates> {
  const { name, size, version } = cluster;
  const certificates = await certificatesFor(kubectl, cluster);
  await certificates.write();
  const { api = coreos, extra } = cluster;
  const spec = { size, version, extra: { [api.tlsField]: tlsOf(name, ['peer', 'client']), ...extra } };
  await kubectl('apply -f -', { input: manifestOf(name, spec, api) });
  return certificates;
}

/** Waits until members have been given these certificates, and believe nobody but whoever made them. */
export async function believedAlone(kubectl: Kubectl, { authority }: Pick<Certificates, 'authority'>): Promise<void> {
  const isDone = ([secret]: readonly SecretData[]): true | undefined =>
    secret !== undefined && entryOf(secret, 'peer').tls.ca.trim() === authority.certificate.trim() ? true : undefined;
  await watchUntil(kubectl, 'secret/db-member-tls', { what: 'the new authority alone', answer: isDone, seconds: 180 });
}
