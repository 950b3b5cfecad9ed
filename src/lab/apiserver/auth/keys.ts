import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { type Identity, makeAuthority, makeTokenKeys } from '../../pki.ts';
import type { Credentials } from '../http/server.ts';
import { masters } from './user.ts';

/** Everything that proves who is who. */
export interface Keys {
  readonly ca: string;
  readonly server: Credentials;
  readonly admin: Identity;
  /** Signs the tokens of service accounts. */
  readonly tokens: { readonly publicKey: string; readonly privateKey: string };
}

interface Served {
  readonly names: readonly string[];
  readonly addresses: readonly string[];
}

interface Kept extends Keys {
  readonly served: Served;
}

const inCluster = [
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  'localhost',
];
const always = ['127.0.0.1', '10.96.0.1'];

/** The keys in a directory, made the first time, and again when the server is to be known under other names. */
export async function keysIn(directory: string, served: Served): Promise<Keys> {
  const path = join(directory, 'keys.json');
  const kept = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Kept) : undefined;
  if (kept !== undefined && JSON.stringify(kept.served) === JSON.stringify(served)) return kept;
  const made = { ...(await makeKeys(served)), served, ...(kept && { tokens: kept.tokens }) };
  writeFileSync(path, JSON.stringify(made), { mode: 0o600 });
  return made;
}

async function makeKeys({ names, addresses }: Served): Promise<Keys> {
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
