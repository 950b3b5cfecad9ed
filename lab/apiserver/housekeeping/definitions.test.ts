import { expect, it } from 'vitest';
import { asking, labState } from '../../../test/support/lab-requests.ts';
import { until } from '../../../test/support/until.ts';
import { keepDefinitions } from './definitions.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const schema = { openAPIV3Schema: { type: 'object' } };
const definition = {
  metadata: { name: 'foos.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'foos', kind: 'Foo' },
    versions: [{ name: 'v1', served: true, storage: true, schema }],
  },
};

it('a deletion of a CustomResourceDefinition continues after a restart of the server', async () => {
  const state = labState();
  const ask = asking(state);
  await ask('POST', definitions, { body: definition });
  const collection = 'apiextensions.k8s.io/customresourcedefinitions';
  const place = { collection, namespace: '', name: definition.metadata.name };
  // The state after the server was killed right after the request.
  Object.assign(state.store.get(place)?.metadata ?? {}, { deletionTimestamp: '2026-01-01T00:00:00Z' });
  keepDefinitions(state);
  await until('the definition is deleted', async () => state.store.get(place) === undefined || undefined);
  expect(state.types.all().some(({ kind }) => kind === 'Foo')).toBe(false);
});
