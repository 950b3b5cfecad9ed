import { describe, expect, it } from 'vitest';
import { coreos } from '../coreos-v1beta2/dialect.ts';
import { improbable } from '../improbable-v1alpha1/dialect.ts';

const metadata = { name: 'db', namespace: 'n', uid: 'u' };
const variables = (count: number, value: string) =>
  Array.from({ length: count }, (_, index) => ({ name: `X${index}`, value }));

const apis = {
  'spec.pod': (pod: { etcdEnv?: object; annotations?: object; affinity?: object }) =>
    coreos.read({ metadata, spec: { size: 1, pod } }),
  'spec.podTemplate': ({ annotations, ...pod }: { etcdEnv?: object; annotations?: object; affinity?: object }) =>
    improbable.read({ metadata, spec: { replicas: 1, podTemplate: { ...pod, metadata: { annotations } } } }),
} as const;

describe.each(['spec.pod', 'spec.podTemplate'] as const)('%s', (field) => {
  const problems = (pod: Parameters<(typeof apis)['spec.pod']>[0]) => {
    const read = apis[field](pod);
    return read.ok ? [] : read.problems;
  };

  it.each([
    ['variables', { etcdEnv: variables(3, 'x'.repeat(22_000)) }],
    ['variables in bytes, not characters', { etcdEnv: variables(2, 'ä'.repeat(17_000)) }],
    [
      'annotations',
      { annotations: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`a${i}`, 'x'.repeat(8000)])) },
    ],
    [
      'variables and annotations together',
      { etcdEnv: variables(2, 'x'.repeat(30_000)), annotations: { note: 'x'.repeat(8000) } },
    ],
  ])('is refused with more than 64 KiB of %s', (_, pod) => {
    expect(problems(pod)).toEqual([
      { path: field, message: expect.stringMatching(/etcdEnv and .*annotations must not have more than 64 KiB/) },
    ]);
  });

  it('is accepted with 60 KiB of variables', () => {
    expect(problems({ etcdEnv: variables(2, 'x'.repeat(30_000)) })).toEqual([]);
  });

  it('is refused with more than 16 KiB in a field without a schema', () => {
    const message = 'must not have more than 16384 characters as JSON';
    const affinity = { nodeAffinity: { bulk: 'x'.repeat(20_000) } };
    expect(problems({ affinity })).toEqual([{ path: `${field}.affinity.nodeAffinity`, message }]);
    const etcdEnv = [{ name: 'X', valueFrom: { fieldRef: { bulk: 'x'.repeat(20_000) } } }];
    expect(problems({ etcdEnv })).toEqual([{ path: `${field}.etcdEnv[0].valueFrom`, message }]);
  });
});
