import { describe, expect, it } from 'vitest';
import { aWorld } from '../../../../test/support/worlds.ts';
import { improbable } from '../../../apis/improbable-v1alpha1/dialect.ts';
import { clientService, peerService } from '../../../core/manifests/services.ts';
import { ApiFailure } from '../../../kube/errors.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { ensureServicesAndPdb } from './services-and-pdb.ts';

const read = improbable.read({
  metadata: { name: 'db', namespace: 'default', uid: 'uid-1' },
  spec: { replicas: 1 },
});
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const { blueprint } = read.value;

/** Returns the patches if the client Service has this selector. */
async function patchesFor(selector: Readonly<Record<string, string>>): Promise<readonly unknown[]> {
  const client = clientService(blueprint);
  const there = [peerService(blueprint), { ...client, spec: { ...client.spec, selector } }];
  const services = {
    get: (key: string) => there.find(({ metadata }) => key === `${metadata.namespace}/${metadata.name}`),
  };
  const patches: unknown[] = [];
  const writer = { patch: async (_: unknown, __: unknown, { body }: { body: object }) => void patches.push(body) };
  const keeping = { caches: { services, budgets: undefined }, writer };
  await ensureServicesAndPdb(blueprint, aWorld(), keeping as unknown as Parameters<typeof ensureServicesAndPdb>[2]);
  return patches;
}

describe('the Services of a cluster', () => {
  const right = blueprint.naming.clusterLabels;

  it('are not patched if they are up to date', async () => {
    expect(await patchesFor(right)).toEqual([]);
  });

  it('are corrected if a selector excludes members', async () => {
    const patch = { spec: { selector: { ...right, app: null } } };
    expect(await patchesFor({ ...right, app: 'other' })).toMatchObject([patch]);
    expect(await patchesFor({ 'app.kubernetes.io/name': 'etcd' })).toMatchObject([{ spec: { selector: right } }]);
  });

  it('cause the Events of the original when they are created', async () => {
    const made: string[] = [];
    const writer = { create: async () => undefined };
    const caches = { services: { get: () => undefined }, budgets: undefined };
    const keeping = { caches, writer, onService: (name: string) => made.push(name) };
    await ensureServicesAndPdb(blueprint, aWorld(), keeping as unknown as Parameters<typeof ensureServicesAndPdb>[2]);
    expect(made.flatMap((name) => improbable.eventsOfService?.(name) ?? [])).toEqual([
      { type: 'Normal', reason: 'ServiceCreated', message: 'Created service with name "db"' },
      { type: 'Normal', reason: 'ServiceCreated', message: 'Created service with name "db-client"' },
    ]);
  });

  it('are not created beside a foreign Service with the same name, which is reported', async () => {
    const taken = new ApiFailure('conflict', 'already exists', { reason: 'AlreadyExists' });
    const writer = { create: () => Promise.reject(taken) };
    const caches = { services: { get: () => undefined }, budgets: undefined };
    expect((await failureWith(caches, writer))?.message).toMatch(
      /^Service db exists and does not belong to this cluster/,
    );
  });

  it('are reported if a foreign Service has the labels of the cluster, and the other Service is created', async () => {
    const made: string[] = [];
    const writer = { create: async (_: unknown, { metadata }: KubeObject) => void made.push(metadata.name) };
    const foreignService = {
      ...peerService(blueprint),
      metadata: { ...peerService(blueprint).metadata, ownerReferences: [] },
    };
    const services = { get: (key: string) => (key === 'default/db' ? foreignService : undefined) };
    const failure = await failureWith({ services, budgets: undefined }, writer);
    expect(failure).toMatchObject({ kind: 'rejected', message: expect.stringMatching(/^Service db exists/) });
    expect(made).toEqual(['db-client']);
  });

  it('wait for the deletion of the Services of a previous cluster', async () => {
    const { metadata, ...rest } = peerService(blueprint);
    const ownerReferences = metadata.ownerReferences.map((owner) => ({ ...owner, uid: 'of-the-former' }));
    const services = { get: () => ({ ...rest, metadata: { ...metadata, ownerReferences } }) };
    expect(await failureWith({ services, budgets: undefined }, {})).toMatchObject({ kind: 'conflict' });
  });
});

const failureWith = (caches: object, writer: object) =>
  ensureServicesAndPdb(blueprint, aWorld(), { caches, writer } as unknown as Parameters<
    typeof ensureServicesAndPdb
  >[2]);
