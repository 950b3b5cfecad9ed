import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { connect } from '../../test/support/etcd-connect.ts';
import { type FakeAnswers, type FakeEtcd, never, startFakeEtcd } from '../../test/support/etcd-fake.ts';

const answering = (maintenance: NonNullable<FakeAnswers['maintenance']>): Promise<FakeEtcd> =>
  startFakeEtcd({ maintenance });

describe('a snapshot', () => {
  const part = new Uint8Array(1024).fill(7);
  const hash = createHash('sha256').update(part).update(part).digest();

  it('is streamed unchanged', async () => {
    const snapshot = async function* () {
      yield* [{ blob: part }, { blob: part }, { blob: hash.subarray(0, 5) }, { blob: hash.subarray(5) }];
    };
    await using fake = await answering({ snapshot });
    const parts: Uint8Array[] = [];
    for await (const received of connect(fake).snapshot()) parts.push(received);
    expect(Buffer.concat(parts).equals(Buffer.concat([part, part, hash]))).toBe(true);
  });

  const broken: Record<string, Uint8Array[]> = {
    'a part is missing': [part, hash],
    'its hash is missing': [part, part],
    'it is empty': [],
  };
  for (const [why, parts] of Object.entries(broken))
    it(`is corrupt if ${why}`, async () => {
      const snapshot = async function* () {
        yield* parts.map((blob) => ({ blob }));
      };
      await using fake = await answering({ snapshot });
      const reading = (async () => {
        for await (const received of connect(fake).snapshot()) expect(received.length).toBeGreaterThan(0);
      })();
      await expect(reading).rejects.toMatchObject({ kind: 'unreachable', message: expect.stringContaining('corrupt') });
    });

  it('is read only as it is consumed, and ends when its consumer stops', async () => {
    using _quiet = vi.spyOn(console, 'error').mockReturnValue(); // the server library logs clients that disconnect
    const big = new Uint8Array(64 * 1024);
    let sent = 0;
    let ended = false;
    const snapshot = async function* (_request: unknown, { signal }: { signal: AbortSignal }) {
      signal.addEventListener('abort', () => {
        ended = true;
      });
      for (; sent < 10_000; sent++) yield { blob: big };
    };
    await using fake = await answering({ snapshot });
    for await (const received of connect(fake).snapshot()) {
      expect(received).toHaveLength(big.length);
      await new Promise((passed) => setTimeout(passed, 300));
      break;
    }
    expect(sent).toBeLessThan(200);
    await expect.poll(() => ended).toBe(true);
  });

  it('fails after a pause, at any part', async () => {
    const snapshot = async function* (...call: Parameters<typeof never>) {
      yield { blob: part };
      await never(...call);
    };
    await using fake = await answering({ snapshot });
    const parts = connect(fake).snapshot({ timeoutMillis: 2_000 })[Symbol.asyncIterator]();
    await parts.next();
    await expect(parts.next()).rejects.toMatchObject({ kind: 'unreachable' });
  });
});
