import { expect, it } from 'vitest';
import { coreos } from '../../../apis/coreos-v1beta2/dialect.ts';
import { performCertificateStep } from './certificates.ts';
import type { StepContext } from './step-context.ts';

const read = coreos.read({ metadata: { name: 'db', namespace: 'default', uid: 'u' }, spec: { size: 3 } });
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const { blueprint } = read.value;

it('new certificates wake the kubelets of the observed pods only', async () => {
  const writes: (readonly [string, object])[] = [];
  const stored = { metadata: { uid: 's', resourceVersion: '7' }, data: {} };
  const context = {
    blueprint,
    observed: {
      certificates: {
        kept: { name: 'db-member-tls', files: {}, annotations: {}, stored },
        staging: { bundle: {} },
        inUse: [],
      },
    },
    controller: {
      now: () => new Date(0),
      caches: { pods: { by: () => [{ metadata: { name: 'db-0', uid: 'pod' } }] } },
    },
    writer: {
      patch: async ({ plural }: { plural: string }, _: unknown, { body }: { body: object }) =>
        void writes.push([plural, body]),
    },
  };
  await performCertificateStep({ kind: 'stage-certificates', stage: 'show' }, context as unknown as StepContext);
  const annotations = { 'etcd.database.coreos.com/certificates-updated-at': '1970-01-01T00:00:00.000Z' };
  expect(writes).toEqual([
    ['secrets', expect.objectContaining({ metadata: { uid: 's', resourceVersion: '7', annotations: {} } })],
    ['pods', { metadata: { uid: 'pod', annotations } }],
  ]);
});
