import { describe, expect, it } from 'vitest';
import type { ReadCluster } from '../../../apis/common/dialect.ts';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import type { Holder } from '../../../core/pki/bundle.ts';
import { Failure } from '../../../std/failure.ts';
import { deleteSecrets } from '../act/secrets.ts';
import type { StepContext } from '../act/step-context.ts';
import { obsoleteSecrets } from './obsolete-secrets.ts';

const managed = { TLS: { managed: {} } };
const all: readonly Holder[] = ['peer', 'server', 'operator'];

function clusterWith(spec: object, status: object = { clusterId: 'c1' }): ReadCluster {
  const metadata = { name: 'db', namespace: 'default', uid: 'u' };
  const read = coreos.read({ metadata, spec: { size: 3, ...spec }, status });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
}

/** An API server with these Secrets and owners, which counts its reads. */
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
  const context = {
    client,
    mayWriteSecrets: true,
    mayDeleteSecrets: true,
    absentSecrets: new Map<string, string>(),
  } as never;
  return { there, asked, context };
}

const ours = { 'db-member-tls': 'u', 'db-issued-tls': 'u', 'db-client-tls': 'u' };

describe('managed TLS Secrets', () => {
  it('are obsolete if no member uses TLS', async () => {
    const { context } = secretsOf(ours);
    expect(await obsoleteSecrets(clusterWith({}), { idle: all }, context)).toEqual(Object.keys(ours).toReversed());
  });

  it('are in use while a member or the spec uses TLS, or before the cluster has formed', async () => {
    const { context } = secretsOf(ours);
    expect(await obsoleteSecrets(clusterWith(managed), { idle: [] }, context)).toEqual([]);
    expect(await obsoleteSecrets(clusterWith({}, {}), { idle: all }, context)).toEqual([]);
    const peers = { TLS: { static: { member: { peerSecret: 'mine' } } } };
    expect(await obsoleteSecrets(clusterWith(peers), { idle: ['server', 'operator'] }, context)).toEqual([
      'db-client-tls',
      'db-issued-tls',
    ]);
  });

  it('are not obsolete if they have another owner', async () => {
    const { context } = secretsOf({ 'db-member-tls': 'another', 'db-client-tls': 'another' });
    expect(await obsoleteSecrets(clusterWith({}), { idle: all }, context)).toEqual([]);
  });

  it('are looked for until they are gone, and again after they were in use', async () => {
    const { context, there, asked } = secretsOf(ours);
    const look = (spec: object, idle: readonly Holder[]) => obsoleteSecrets(clusterWith(spec), { idle }, context);
    for (let pass = 0; pass < 2; pass++) expect(await look({}, all)).toHaveLength(3);
    there.clear();
    for (let pass = 0; pass < 3; pass++) expect(await look({}, all)).toEqual([]);
    expect(asked).toHaveLength(9);
    there.set('db-member-tls', 'u');
    expect(await look(managed, [])).toEqual([]);
    expect(await look({}, all)).toEqual(['db-member-tls']);
  });

  it('are not looked for without the right to delete them', async () => {
    const { context } = secretsOf(ours);
    const without = { ...(context as object), mayDeleteSecrets: false } as never;
    expect(await obsoleteSecrets(clusterWith({}), { idle: all }, without)).toEqual([]);
  });

  it('are deleted with preconditions, and a missing Secret is no failure', async () => {
    const { context } = secretsOf({ 'db-member-tls': 'u', 'db-client-tls': 'another' });
    const removed: unknown[] = [];
    const writer = { remove: async (...asked: unknown[]) => void removed.push(asked.slice(1, 2), asked[2]) };
    const { blueprint } = clusterWith({});
    const step = { blueprint, controller: context, writer, signal: undefined } as unknown as StepContext;
    await deleteSecrets({ kind: 'drop-secrets', names: Object.keys(ours) }, step);
    expect(removed).toEqual([
      [{ namespace: 'default', name: 'db-member-tls' }],
      { preconditions: { uid: 'uid of db-member-tls' }, signal: undefined },
    ]);
  });
});
