import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../test/support/virtual-clock.ts';
import { improbable } from '../../apis/improbable-v1alpha1/dialect.ts';
import { failureOfAnswer } from '../../kube/errors.ts';
import { Failure } from '../../std/failure.ts';
import { makeLog } from '../telemetry/log.ts';
import { dialectsToServe, isDefined, waitUntilDefined } from './served.ts';

type Asked = Parameters<typeof dialectsToServe>[1];

/** The APIs that an operator serves, if it may list clusters of these groups. */
async function served(mayList: readonly string[], asked: Partial<Asked> = {}): Promise<readonly string[]> {
  const review = async (_: unknown, { resourceAttributes }: { resourceAttributes: { group: string } }) => ({
    allowed: mayList.includes(resourceAttributes.group),
  });
  const all = { dialects: undefined, etcdRepository: undefined, ...asked };
  const [only = []] = await dialectsToServe({ review } as never, all, ['foo']);
  return only.map(({ name }) => name);
}

const [ofCoreos, ofImprobable] = ['etcd.database.coreos.com', 'etcd.improbable.io'];

describe('the served APIs', () => {
  it('are those with clusters that the operator may list', async () => {
    expect(await served([ofCoreos, ofImprobable])).toEqual(['coreos', 'improbable']);
    expect(await served([ofCoreos])).toEqual(['coreos']);
    expect(await served([ofImprobable])).toEqual(['improbable']);
  });

  it('are all if the operator may list none, so that missing rights are reported', async () => {
    expect(await served([])).toEqual(['coreos', 'improbable']);
  });

  it('are those of --dialects, whatever the operator may list', async () => {
    expect(await served([ofCoreos], { dialects: ['improbable'] })).toEqual(['improbable']);
  });

  it('use the image of --etcd-repository for clusters without repository', async () => {
    const review = async () => ({ allowed: true });
    const asked = { dialects: ['improbable'] as const, etcdRepository: 'mirror.example/etcd' };
    const [[only] = []] = await dialectsToServe({ review } as never, asked, [undefined]);
    const imageOf = (spec: object): string | undefined => {
      const metadata = { name: 'db', namespace: 'foo', uid: 'u' };
      const read = only?.dialect.read({ metadata, spec: { replicas: 1, ...spec } });
      return read?.ok ? read.value.blueprint.intent.imageOf('3.6.16') : undefined;
    };
    expect(imageOf({})).toBe('mirror.example/etcd:v3.6.16');
    expect(imageOf({ repository: 'quay.io/coreos/etcd' })).toBe('mirror.example/etcd:v3.6.16');
    expect(imageOf({ repository: 'other.example/quay.io/coreos/etcd' })).toBe(
      'other.example/quay.io/coreos/etcd:v3.6.16',
    );
  });
});

describe('an API without CRDs', () => {
  const undefinedKind = (plural: string) => failureOfAnswer(`list ${plural}`, 404, { text: '404 page not found\n' });

  it('is served as soon as its CRDs exist', async () => {
    const clock = new VirtualClock();
    const list = async ({ plural }: { plural: string }) => {
      if (clock.monotonic() < (plural === 'etcdpeers' ? 60_000 : 20_000)) throw undefinedKind(plural);
      return { items: [] };
    };
    const onFailure = ({ message }: Failure) => expect.unreachable(message);
    const looking = { client: { list } as never, scope: 'foo', clock, log: makeLog('silent'), onFailure };
    const since = waitUntilDefined(improbable, looking, new AbortController().signal).then(() => clock.monotonic());
    await clock.advance(120_000);
    expect(await since).toBeGreaterThanOrEqual(60_000);
    expect(await since).toBeLessThan(66_000);
  });

  it('is no longer waited for when the operator stops', async () => {
    const clock = new VirtualClock();
    const stop = new AbortController();
    const list = () => Promise.reject(undefinedKind('etcdclusters'));
    const looking = { client: { list } as never, scope: undefined, clock, log: makeLog('silent'), onFailure: () => {} };
    const defined = waitUntilDefined(improbable, looking, stop.signal);
    await clock.advance(10_000);
    stop.abort();
    expect(await defined).toBe(false);
  });
});

describe('the check whether the kinds of an API are defined', () => {
  /** The result, and the seconds until it. Lists fail with this failure for the first 20 s. */
  async function found(failure: Failure): Promise<readonly [defined: boolean, seconds: number]> {
    const clock = new VirtualClock();
    const list = async () => {
      if (clock.monotonic() < 20_000) throw failure;
      return { items: [] };
    };
    const looking = { client: { list } as never, scope: 'foo', clock, log: makeLog('silent'), onFailure: () => {} };
    const asked = isDefined(improbable, looking, new AbortController().signal).then(
      (defined) => [defined, clock.monotonic() / 1000] as const,
    );
    await clock.advance(60_000);
    return asked;
  }

  it('is repeated while the API server is unreachable', async () => {
    const [defined, seconds] = await found(new Failure('unreachable', 'HTTP status 500'));
    expect(defined).toBe(true);
    expect(seconds).toBeGreaterThanOrEqual(20);
    expect(seconds).toBeLessThanOrEqual(25);
  });

  it('is false at once if the kinds are unknown or may not be listed', async () => {
    const unknown = failureOfAnswer('list etcdclusters', 404, { text: '404 page not found\n' });
    expect(await found(unknown)).toEqual([false, 0]);
    expect(await found(new Failure('forbidden', 'no'))).toEqual([false, 0]);
  });
});
