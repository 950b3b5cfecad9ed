import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import { etcdClusterCrd } from '../dialects/coreos-v1beta2/crd.ts';
import { ApiFailure } from '../kube/errors.ts';
import { Failure } from '../std/failure.ts';
import { type Installing, installCrds } from './install-crd.ts';

const ours = etcdClusterCrd();
const [version] = ours.spec?.versions ?? [];
const spec = { ...ours.spec, versions: [{ name: version?.name, served: true, storage: true }] };

const { signal } = new AbortController();

/** What is said of each definition where all that are looked for are there, as `found` has them. */
async function warned(found: object | Failure): Promise<readonly unknown[]> {
  const said: unknown[] = [];
  const log = { warn: (about: { readonly lacks?: unknown }) => void said.push(about.lacks) };
  const client = {
    create: () => Promise.reject(new ApiFailure('conflict', 'it is there', { reason: 'AlreadyExists' })),
    get: () => (found instanceof Failure ? Promise.reject(found) : Promise.resolve(found)),
  };
  await installCrds('coreos', { client, log, clock: new VirtualClock() } as unknown as Installing, signal);
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

describe('definitions that cannot be created because the API server is unreachable', () => {
  /** What is created, and what is logged, where the API server answers after 20 s. */
  function install(stop: AbortSignal) {
    const [clock, created, said] = [new VirtualClock(), new Array<string>(), new Array<string>()];
    const create = async (_: unknown, { metadata }: { metadata: { name: string } }) => {
      if (clock.monotonic() < 20_000) throw new Failure('unreachable', 'connect ECONNREFUSED');
      created.push(metadata.name);
    };
    const log = { warn: (_: unknown, text: string) => void said.push(text), info: () => {} };
    const installing = { client: { create }, log, clock } as unknown as Installing;
    return { clock, created, said, ended: installCrds('coreos', installing, stop) };
  }

  it('are created when it answers, and the failure is logged once', async () => {
    const { clock, created, said, ended } = install(signal);
    await clock.advance(26_000);
    await ended;
    expect(created.length).toBe(3);
    expect(said).toEqual(['cannot create the CustomResourceDefinition: trying again']);
  });

  it('are given up when the operator is stopped', async () => {
    const stop = new AbortController();
    const { clock, created, ended } = install(stop.signal);
    await clock.advance(10_000);
    stop.abort();
    await ended;
    expect(created).toEqual([]);
  });
});
