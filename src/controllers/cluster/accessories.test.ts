import { describe, expect, it } from 'vitest';
import { aWorld } from '../../../test/support/worlds.ts';
import { clientService, peerService } from '../../core/desired/services.ts';
import { improbable } from '../../dialects/improbable-v1alpha1/dialect.ts';
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
});
