import { expect, it } from 'vitest';
import { textOf, valuesAt } from './paths.ts';

const pod = {
  metadata: { name: 'db-0', annotations: { 'etcd.improbable.io/cluster-id': 'abc' } },
  spec: { volumes: [{ name: 'data' }, { name: 'tls' }], size: 0, paused: false },
  status: { conditions: [{ type: 'Ready', status: 'True' }, { type: 'Other' }] },
};

it.each([
  ['.metadata.name', ['db-0']],
  ['.metadata.annotations.etcd\\.improbable\\.io/cluster-id', ['abc']],
  ['.spec.volumes[1].name', ['tls']],
  ['.spec.volumes[*].name', ['data', 'tls']],
  ['.spec.size', [0]],
  ['.spec.paused', [false]],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  ['.status.conditions[?(@.type=="Other")].status', []],
  ['.status.conditions[?(@.type=="Absent")].status', []],
  ['.status.phase.of', []],
  ['.spec.volumes[7].name', []],
])('%s selects the values that kubectl selects', (path, values) => {
  expect(valuesAt(pod, path)).toEqual(values);
});

it('an unsupported path is refused', () => {
  expect(() => valuesAt(pod, '{.metadata.name}')).toThrow('unsupported path');
  expect(() => valuesAt(pod, '.status.conditions[?(@.a>1)]')).toThrow('unsupported path');
});

it('a value is printed as kubectl prints it', () => {
  expect([1, true, 'a b', { a: ['b'] }].map(textOf)).toEqual(['1', 'true', 'a b', '{"a":["b"]}']);
});
