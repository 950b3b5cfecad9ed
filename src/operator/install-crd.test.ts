import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import { etcdClusterCrd } from '../apis/coreos-v1beta2/crd.ts';
import { ApiFailure } from '../kube/errors.ts';
import { Failure } from '../std/failure.ts';
import { type InstallContext, installCrds } from './install-crd.ts';

const ours = etcdClusterCrd();
const [version] = ours.spec?.versions ?? [];
const spec = { ...ours.spec, versions: [{ name: version?.name, served: true, storage: true }] };

const { signal } = new AbortController();

/** The warnings about existing definitions. `found`: the result of reading each of them. */
async function warned(found: object | Failure): Promise<readonly unknown[]> {
  const warnings: unknown[] = [];
  const log = { warn: (about: { readonly lacks?: unknown }) => void warnings.push(about.lacks) };
  const client = {
    create: () => Promise.reject(new ApiFailure('conflict', 'already exists', { reason: 'AlreadyExists' })),
    get: () => (found instanceof Failure ? Promise.reject(found) : Promise.resolve(found)),
  };
  await installCrds('coreos', { client, log, clock: new VirtualClock() } as unknown as InstallContext, signal);
  return warnings;
}

describe('an existing CustomResourceDefinition', () => {
  it('without schema or status subresource is a warning', async () => {
    expect((await warned({ ...ours, spec }))[0]).toEqual(['status subresource', 'schema']);
    const open = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const versions = [{ ...spec.versions[0], schema: open, subresources: { status: {} } }];
    expect((await warned({ ...ours, spec: { ...spec, versions } }))[0]).toEqual(['schema']);
  });

  it('with both, or that cannot be read, is no warning', async () => {
    expect(await warned(ours)).toEqual([]);
    expect(await warned(new Failure('forbidden', 'no'))).toEqual([]);
  });
});

describe('CustomResourceDefinitions that cannot be created because the API server is unreachable', () => {
  /** Collects the created definitions and the warnings. The API server answers after 20 s. */
  function install(stop: AbortSignal) {
    const [clock, created, warnings] = [new VirtualClock(), new Array<string>(), new Array<string>()];
    const create = async (_: unknown, { metadata }: { metadata: { name: string } }) => {
      if (clock.monotonic() < 20_000) throw new Failure('unreachable', 'connect ECONNREFUSED');
      created.push(metadata.name);
    };
    const log = { warn: (_: unknown, text: string) => void warnings.push(text), info: () => {} };
    const context = { client: { create }, log, clock } as unknown as InstallContext;
    return { clock, created, warnings, ended: installCrds('coreos', context, stop) };
  }

  it('are created when the API server answers, with one warning', async () => {
    const { clock, created, warnings, ended } = install(signal);
    await clock.advance(26_000);
    await ended;
    expect(created.length).toBe(3);
    expect(warnings).toEqual(['cannot create CustomResourceDefinition: retrying']);
  });

  it('are not created if the operator stops before', async () => {
    const stop = new AbortController();
    const { clock, created, ended } = install(stop.signal);
    await clock.advance(10_000);
    stop.abort();
    await ended;
    expect(created).toEqual([]);
  });
});
