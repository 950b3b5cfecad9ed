import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import { improbable } from '../dialects/improbable-v1alpha1/dialect.ts';
import { failureOf } from '../kube/errors.ts';
import { Failure } from '../std/failure.ts';
import { makeLog } from './log.ts';
import { dialectsToServe, isDefined, whenDefined } from './served.ts';

type Asked = Parameters<typeof dialectsToServe>[1];

/** Which APIs are served by an operator that may list clusters of these groups. */
async function served(mayList: readonly string[], asked: Partial<Asked> = {}): Promise<readonly string[]> {
  const review = async (_: unknown, { resourceAttributes }: { resourceAttributes: { group: string } }) => ({
    allowed: mayList.includes(resourceAttributes.group),
  });
  const all = { dialects: undefined, etcdRepository: undefined, ...asked };
  const [only = []] = await dialectsToServe({ review } as never, all, ['foo']);
  return only.map(({ name }) => name);
}

const [ofCoreos, ofImprobable] = ['etcd.database.coreos.com', 'etcd.improbable.io'];

describe('the APIs that are served', () => {
  it('are those that the operator may see', async () => {
    expect(await served([ofCoreos, ofImprobable])).toEqual(['coreos', 'improbable']);
    expect(await served([ofCoreos])).toEqual(['coreos']);
    expect(await served([ofImprobable])).toEqual(['improbable']);
  });

  it('are all where it may see none, so that it is told what it lacks', async () => {
    expect(await served([])).toEqual(['coreos', 'improbable']);
  });

  it('are those that were named, whatever it may see', async () => {
    expect(await served([ofCoreos], { dialects: ['improbable'] })).toEqual(['improbable']);
  });

  it('make members of the image that --etcd-repository names, where a cluster names no other', async () => {
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

describe('an API whose kinds are not defined', () => {
  const undefinedKind = (plural: string) => failureOf(`list ${plural}`, 404, { text: '404 page not found\n' });

  it('is waited for, and the first time it is there is enough', async () => {
    const clock = new VirtualClock();
    const list = async ({ plural }: { plural: string }) => {
      if (clock.monotonic() < (plural === 'etcdpeers' ? 60_000 : 20_000)) throw undefinedKind(plural);
      return { items: [] };
    };
    const onTrouble = ({ message }: Failure) => expect.unreachable(message);
    const looking = { client: { list } as never, scope: 'foo', clock, log: makeLog('silent'), onTrouble };
    const since = whenDefined(improbable, looking, new AbortController().signal).then(() => clock.monotonic());
    await clock.advance(120_000);
    expect(await since).toBeGreaterThanOrEqual(60_000);
    expect(await since).toBeLessThan(66_000);
  });

  it('is not waited for any longer when the operator is told to stop', async () => {
    const clock = new VirtualClock();
    const stop = new AbortController();
    const list = () => Promise.reject(undefinedKind('etcdclusters'));
    const looking = { client: { list } as never, scope: undefined, clock, log: makeLog('silent'), onTrouble: () => {} };
    const defined = whenDefined(improbable, looking, stop.signal);
    await clock.advance(10_000);
    stop.abort();
    expect(await defined).toBe(false);
  });
});

describe('whether the kinds of an API are defined', () => {
  /** What is found, and after how many seconds, where lists fail in this way for the first 20 s. */
  async function found(failure: Failure): Promise<readonly [defined: boolean, seconds: number]> {
    const clock = new VirtualClock();
    const list = async () => {
      if (clock.monotonic() < 20_000) throw failure;
      return { items: [] };
    };
    const looking = { client: { list } as never, scope: 'foo', clock, log: makeLog('silent'), onTrouble: () => {} };
    const asked = isDefined(improbable, looking, new AbortController().signal).then(
      (defined) => [defined, clock.monotonic() / 1000] as const,
    );
    await clock.advance(60_000);
    return asked;
  }

  it('is asked again while the API server is unreachable', async () => {
    const [defined, seconds] = await found(new Failure('unreachable', 'HTTP status 500'));
    expect(defined).toBe(true);
    expect(seconds).toBeGreaterThanOrEqual(20);
    expect(seconds).toBeLessThanOrEqual(25);
  });

  it('is answered with no at once if they are unknown or may not be listed', async () => {
    const unknown = failureOf('list etcdclusters', 404, { text: '404 page not found\n' });
    expect(await found(unknown)).toEqual([false, 0]);
    expect(await found(new Failure('forbidden', 'no'))).toEqual([false, 0]);
  });
});
