import { type Identity, makeAuthority } from '../../src/lab/pki.ts';
import type { Kubectl } from './kubectl.ts';

export interface CertifiedCluster {
  readonly name: string;
  readonly namespace: string;
  readonly size: number;
  readonly version: string;
}

/** Declares a cluster whose members and clients all show certificates, and makes its Secrets. */
export async function withCertificates(kubectl: Kubectl, cluster: CertifiedCluster): Promise<void> {
  const { name, namespace, size, version } = cluster;
  const authority = await makeAuthority(name);
  const dns = [`*.${name}.${namespace}.svc`, `${name}-client.${namespace}.svc`, 'localhost'];
  const member = await authority.issue({ commonName: 'member', dns, addresses: ['127.0.0.1'] });
  const client = await authority.issue({ commonName: 'operator' });
  const secret = async (file: string, { certificate, key }: Identity): Promise<void> => {
    const stringData = {
      [`${file}.crt`]: certificate,
      [`${file}.key`]: key,
      [`${file}-ca.crt`]: authority.certificate,
    };
    const manifest = { apiVersion: 'v1', kind: 'Secret', metadata: { name: `${name}-${file}` }, stringData };
    await kubectl('apply -f -', { input: JSON.stringify(manifest) });
  };
  await secret('peer', member);
  await secret('server', member);
  await secret('etcd-client', client);
  const TLS = {
    static: {
      member: { peerSecret: `${name}-peer`, serverSecret: `${name}-server` },
      operatorSecret: `${name}-etcd-client`,
    },
  };
  const kind = { apiVersion: 'etcd.database.coreos.com/v1beta2', kind: 'EtcdCluster' };
  const manifest = { ...kind, metadata: { name }, spec: { size, version, TLS } };
  await kubectl('apply -f -', { input: JSON.stringify(manifest) });
}
