import { describe, expect, it } from 'vitest';
import { aWorld } from '../../../test/support/worlds.ts';
import { clientService, peerService } from '../../core/desired/services.ts';
import { improbable } from '../../dialects/improbable-v1alpha1/dialect.ts';
import { ApiFailure } from '../../kube/errors.ts';
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

  it('are not made where a stranger has their name, and nothing else is either, unless there is a cluster to heal', async () => {
    const taken = new ApiFailure('conflict', 'already exists', { reason: 'AlreadyExists' });
    const writer = { create: () => Promise.reject(taken) };
    const keeping = { caches: { services: { get: () => undefined }, budgets: undefined }, writer };
    const keepIn = (world: ReturnType<typeof aWorld>): Promise<void> =>
      keepAccessories(blueprint, world, keeping as unknown as Parameters<typeof keepAccessories>[2]);
    const founding = aWorld((world) => ({ ...world, memory: { ...world.memory, clusterId: undefined } }));
    await expect(keepIn(founding)).rejects.toThrow(/^Service db exists and does not belong to this cluster: rename/);
    await expect(keepIn(aWorld())).resolves.toBeUndefined();
  });
});
