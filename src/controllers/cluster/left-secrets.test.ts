import { describe, expect, it } from 'vitest';
import type { Holder } from '../../core/certificates/bundle.ts';
import { coreos } from '../../dialects/coreos-v1beta2/dialect.ts';
import type { ReadCluster } from '../../dialects/dialect.ts';
import { Failure } from '../../std/failure.ts';
import type { Deed } from './deed.ts';
import { dropSecrets, leftSecrets } from './left-secrets.ts';

const managed = { TLS: { managed: {} } };
const all: readonly Holder[] = ['peer', 'server', 'operator'];

function clusterWith(spec: object, status: object = { clusterId: 'c1' }): ReadCluster {
  const metadata = { name: 'db', namespace: 'default', uid: 'u' };
  const read = coreos.read({ metadata, spec: { size: 3, ...spec }, status });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
}

/** An API server with these Secrets, each of the owner that is named, which counts how often it is asked. */
function secretsOf(owners: Readonly<Record<string, string>>) {
  const there = new Map(Object.entries(owners));
  const asked: string[] = [];
  const client = {
    get: async (_: unknown, { name }: { name: string }) => {
      asked.push(name);
      const owner = there.get(name);
      if (owner === undefined) throw new Failure('not-found', `no Secret ${name}`);
      return { metadata: { name, uid: `uid of ${name}`, ownerReferences: [{ uid: owner }] } };
    },
  };
  const tools = { client, keepsSecrets: true, dropsSecrets: true, tidied: new Map<string, string>() } as never;
  return { there, asked, tools };
}

const ours = { 'db-member-tls': 'u', 'db-issued-tls': 'u', 'db-client-tls': 'u' };

describe('Secrets for encryption', () => {
  it('are left when nobody is encrypted any more, whoever had made the certificates', async () => {
    const { tools } = secretsOf(ours);
    expect(await leftSecrets(clusterWith({}), { idle: all }, tools)).toEqual(Object.keys(ours).toReversed());
  });

  it('are needed while somebody is, or the spec says so, or there is no cluster yet', async () => {
    const { tools } = secretsOf(ours);
    expect(await leftSecrets(clusterWith(managed), { idle: [] }, tools)).toEqual([]);
    expect(await leftSecrets(clusterWith({}, {}), { idle: all }, tools)).toEqual([]);
    const peers = { TLS: { static: { member: { peerSecret: 'mine' } } } };
    expect(await leftSecrets(clusterWith(peers), { idle: ['server', 'operator'] }, tools)).toEqual([
      'db-client-tls',
      'db-issued-tls',
    ]);
  });

  it('of somebody else are not ours to remove', async () => {
    const { tools } = secretsOf({ 'db-member-tls': 'another', 'db-client-tls': 'another' });
    expect(await leftSecrets(clusterWith({}), { idle: all }, tools)).toEqual([]);
  });

  it('are looked for until they are gone, and then not again before others were needed', async () => {
    const { tools, there, asked } = secretsOf(ours);
    const look = (spec: object, idle: readonly Holder[]) => leftSecrets(clusterWith(spec), { idle }, tools);
    for (let pass = 0; pass < 2; pass++) expect(await look({}, all)).toHaveLength(3);
    there.clear();
    for (let pass = 0; pass < 3; pass++) expect(await look({}, all)).toEqual([]);
    expect(asked).toHaveLength(9);
    there.set('db-member-tls', 'u');
    expect(await look(managed, [])).toEqual([]);
    expect(await look({}, all)).toEqual(['db-member-tls']);
  });

  it('stay where they may not be deleted', async () => {
    const { tools } = secretsOf(ours);
    const without = { ...(tools as object), dropsSecrets: false } as never;
    expect(await leftSecrets(clusterWith({}), { idle: all }, without)).toEqual([]);
  });

  it('are removed as they were seen, and what is gone already is no failure', async () => {
    const { tools } = secretsOf({ 'db-member-tls': 'u', 'db-client-tls': 'another' });
    const removed: unknown[] = [];
    const writer = { remove: async (...asked: unknown[]) => void removed.push(asked.slice(1, 2), asked[2]) };
    const { blueprint } = clusterWith({});
    const deed = { blueprint, tools, writer, signal: undefined } as unknown as Deed;
    await dropSecrets({ kind: 'drop-secrets', names: Object.keys(ours) }, deed);
    expect(removed).toEqual([
      [{ namespace: 'default', name: 'db-member-tls' }],
      { preconditions: { uid: 'uid of db-member-tls' }, signal: undefined },
    ]);
  });
});
