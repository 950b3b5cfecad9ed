import { describe, expect, it } from 'vitest';
import { etcdClusterCrd } from '../dialects/coreos-v1beta2/crd.ts';
import { ApiFailure } from '../kube/errors.ts';
import { Failure } from '../std/failure.ts';
import { installCrds } from './install-crd.ts';

const ours = etcdClusterCrd();
const [version] = ours.spec?.versions ?? [];
const spec = { ...ours.spec, versions: [{ name: version?.name, served: true, storage: true }] };

/** What is said of each definition where all that are looked for are there, as `found` has them. */
async function warned(found: object | Failure): Promise<readonly unknown[]> {
  const said: unknown[] = [];
  const log = { warn: (about: { readonly lacks?: unknown }) => void said.push(about.lacks) };
  const client = {
    create: () => Promise.reject(new ApiFailure('conflict', 'it is there', { reason: 'AlreadyExists' })),
    get: () => (found instanceof Failure ? Promise.reject(found) : Promise.resolve(found)),
  };
  await installCrds('coreos', client as never, log as never);
  return said;
}

describe('a definition that is there', () => {
  it('is told of where it has neither schema nor status, as that of the original', async () => {
    expect((await warned({ ...ours, spec }))[0]).toEqual(['status subresource', 'schema']);
    const open = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const versions = [{ ...spec.versions[0], schema: open, subresources: { status: {} } }];
    expect((await warned({ ...ours, spec: { ...spec, versions } }))[0]).toEqual(['schema']);
  });

  it('is not where it has both, or may not be looked at', async () => {
    expect(await warned(ours)).toEqual([]);
    expect(await warned(new Failure('forbidden', 'no'))).toEqual([]);
  });
});
