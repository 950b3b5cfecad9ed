import { describe, expect, it } from 'vitest';
import { aWorld } from '../../../test/support/worlds.ts';
import { clientService, peerService } from '../../core/desired/services.ts';
import { improbable } from '../../dialects/improbable-v1alpha1/dialect.ts';
import { ApiFailure } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import { keepAccessories } from './accessories.ts';

const read = improbable.read({
  metadata: { name: 'db', namespace: 'default', uid: 'uid-1' },
  spec: { replicas: 1 },
});
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const { blueprint } = read.value;

/** What is patched where the client Service has this selector. */
async function patchesFor(selector: Readonly<Record<string, string>>): Promise<readonly unknown[]> {
  const client = clientService(blueprint);
  const there = [peerService(blueprint), { ...client, spec: { ...client.spec, selector } }];
  const services = {
    get: (key: string) => there.find(({ metadata }) => key === `${metadata.namespace}/${metadata.name}`),
  };
  const bodies: unknown[] = [];
  const writer = { patch: async (_: unknown, __: unknown, { body }: { body: object }) => void bodies.push(body) };
  const keeping = { caches: { services, budgets: undefined }, writer };
  await keepAccessories(blueprint, aWorld(), keeping as unknown as Parameters<typeof keepAccessories>[2]);
  return bodies;
}

describe('the services of a cluster', () => {
  const right = blueprint.naming.clusterLabels;

  it('are left alone when they are as they should be', async () => {
    expect(await patchesFor(right)).toEqual([]);
  });

  it('are put right when a selector leaves somebody out', async () => {
    const patch = { spec: { selector: { ...right, app: null } } };
    expect(await patchesFor({ ...right, app: 'nobody' })).toMatchObject([patch]);
    expect(await patchesFor({ 'app.kubernetes.io/name': 'etcd' })).toMatchObject([{ spec: { selector: right } }]);
  });

  it('are told of when they are made, in the words of the original', async () => {
    const made: string[] = [];
    const writer = { create: async () => undefined };
    const caches = { services: { get: () => undefined }, budgets: undefined };
    const keeping = { caches, writer, onService: (name: string) => made.push(name) };
    await keepAccessories(blueprint, aWorld(), keeping as unknown as Parameters<typeof keepAccessories>[2]);
    expect(made.flatMap((name) => improbable.tellService?.(name) ?? [])).toEqual([
      { type: 'Normal', reason: 'ServiceCreated', message: 'Created service with name "db"' },
      { type: 'Normal', reason: 'ServiceCreated', message: 'Created service with name "db-client"' },
    ]);
  });

  it('are not made where a stranger has their name, who is named', async () => {
    const taken = new ApiFailure('conflict', 'already exists', { reason: 'AlreadyExists' });
    const writer = { create: () => Promise.reject(taken) };
    const caches = { services: { get: () => undefined }, budgets: undefined };
    expect((await keptBeside(caches, writer))?.message).toMatch(
      /^Service db exists and does not belong to this cluster/,
    );
  });

  it('are named too where the stranger has their labels, and what is missing beside it is made', async () => {
    const made: string[] = [];
    const writer = { create: async (_: unknown, { metadata }: KubeObject) => void made.push(metadata.name) };
    const stranger = {
      ...peerService(blueprint),
      metadata: { ...peerService(blueprint).metadata, ownerReferences: [] },
    };
    const services = { get: (key: string) => (key === 'default/db' ? stranger : undefined) };
    const failure = await keptBeside({ services, budgets: undefined }, writer);
    expect(failure).toMatchObject({ kind: 'rejected', message: expect.stringMatching(/^Service db exists/) });
    expect(made).toEqual(['db-client']);
  });

  it('are waited for where a former cluster of the name has them still', async () => {
    const { metadata, ...rest } = peerService(blueprint);
    const ownerReferences = metadata.ownerReferences.map((owner) => ({ ...owner, uid: 'of-the-former' }));
    const services = { get: () => ({ ...rest, metadata: { ...metadata, ownerReferences } }) };
    expect(await keptBeside({ services, budgets: undefined }, {})).toMatchObject({ kind: 'conflict' });
  });
});

const keptBeside = (caches: object, writer: object) =>
  keepAccessories(blueprint, aWorld(), { caches, writer } as unknown as Parameters<typeof keepAccessories>[2]);
