import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import { Failure, type FailureKind } from '../std/failure.ts';
import { agentImage, type Looking } from './agent-image.ts';

const inPod = { agentImages: { backup: undefined, restore: undefined }, podName: 'operator-0', podNamespace: 'foo' };

/** Looks up the image where reading the pod fails in this way for the first 20 s. */
function look(kind: FailureKind, signal = new AbortController().signal) {
  const [clock, said] = [new VirtualClock(), new Array<string>()];
  const get = async () => {
    if (clock.monotonic() < 20_000) throw new Failure(kind, 'HTTP status 500');
    return { metadata: { name: 'operator-0' }, spec: { containers: [{ name: 'etcd-operator', image: 'own:1' }] } };
  };
  const log = { warn: (_: unknown, text: string) => void said.push(text) };
  const looking = { client: { get }, settings: inPod, clock, log } as unknown as Looking;
  return { clock, said, image: agentImage('backup', looking, signal) };
}

describe('the image of agents', () => {
  it('is waited for while the API server is unreachable, which is logged once', async () => {
    const { clock, said, image } = look('unreachable');
    await clock.advance(26_000);
    expect(await image).toMatchObject({ name: 'own:1' });
    expect(said.length).toBe(1);
  });

  it('is not waited for any longer when the operator is stopped', async () => {
    const stop = new AbortController();
    const { clock, image } = look('unreachable', stop.signal);
    await clock.advance(10_000);
    stop.abort();
    expect(await image).toBeUndefined();
  });

  it.each(['forbidden', 'not-found'] as const)(
    'has to be named if reading the pod is answered with %s',
    async (kind) => {
      expect(await look(kind).image).toMatch(/cannot look up its own image .*--agent-image/);
    },
  );
});
