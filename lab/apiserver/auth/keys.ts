import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { type Identity, makeAuthority, makeTokenKeys } from '../../pki.ts';
import type { Credentials } from '../http/server.ts';
import { masters } from './user.ts';

/** The server's certificates and keys. */
export interface Keys {
  readonly ca: string;
  readonly server: Credentials;
  readonly admin: Identity;
  /** Signs ServiceAccount tokens. */
  readonly tokens: { readonly publicKey: string; readonly privateKey: string };
}

interface ServedNames {
  readonly names: readonly string[];
  readonly addresses: readonly string[];
}

interface StoredKeys extends Keys {
  readonly served: ServedNames;
}

const inCluster = [
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  'localhost',
];
const always = ['127.0.0.1', '10.96.0.1'];

/** Reads the keys in a directory. Creates them the first time, and new certificates when names or addresses change. */
export async function keysIn(directory: string, served: ServedNames): Promise<Keys> {
  const path = join(directory, 'keys.json');
  const stored = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as StoredKeys) : undefined;
  if (stored !== undefined && JSON.stringify(stored.served) === JSON.stringify(served)) return stored;
  const keys = { ...(await makeKeys(served)), served, ...(stored && { tokens: stored.tokens }) };
  writeFileSync(path, JSON.stringify(keys), { mode: 0o600 });
  return keys;
}

async function makeKeys({ names, addresses }: ServedNames): Promise<Keys> {
  const authority = await makeAuthority('etcd-operator lab');
  const ca = authority.certificate;
  const own = await authority.issue({
    commonName: 'kube-apiserver',
    dns: [...new Set([...inCluster, ...names, ...addresses.filter((one) => isIP(one) === 0)])],
    addresses: [...new Set([...always, ...addresses.filter((one) => isIP(one) !== 0)])],
  });
  const admin = await authority.issue({ commonName: 'kubernetes-admin', organization: masters });
  return { ca, server: { ...own, ca }, admin, tokens: makeTokenKeys() };
}
