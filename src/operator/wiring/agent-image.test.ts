import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../test/support/virtual-clock.ts';
import { Failure, type FailureKind } from '../../std/failure.ts';
import { agentImage, type ImageLookup } from './agent-image.ts';

const inPod = { agentImages: { backup: undefined, restore: undefined }, podName: 'operator-0', podNamespace: 'foo' };

/** Looks up the image of backup agents. Reads of the pod fail with this kind for the first 20 s. */
function look(kind: FailureKind, signal = new AbortController().signal) {
  const [clock, warnings] = [new VirtualClock(), new Array<string>()];
  const get = async () => {
    if (clock.monotonic() < 20_000) throw new Failure(kind, 'HTTP status 500');
    return { metadata: { name: 'operator-0' }, spec: { containers: [{ name: 'etcd-operator', image: 'own:1' }] } };
  };
  const log = { warn: (_: unknown, text: string) => void warnings.push(text) };
  const lookup = { client: { get }, settings: inPod, clock, log } as unknown as ImageLookup;
  return { clock, warnings, image: agentImage('backup', lookup, signal) };
}

describe('the agent image', () => {
  it('is waited for while the API server is unreachable, with one warning', async () => {
    const { clock, warnings, image } = look('unreachable');
    await clock.advance(26_000);
    expect(await image).toMatchObject({ name: 'own:1' });
    expect(warnings.length).toBe(1);
  });

  it('is no longer waited for when the operator stops', async () => {
    const stop = new AbortController();
    const { clock, image } = look('unreachable', stop.signal);
    await clock.advance(10_000);
    stop.abort();
    expect(await image).toBeUndefined();
  });

  it.each(['forbidden', 'not-found'] as const)(
    'must be set with --agent-image if the read of the pod fails with %s',
    async (kind) => {
      expect(await look(kind).image).toMatch(/the agent image is unknown, .* cannot be read .*--agent-image/);
    },
  );
});
