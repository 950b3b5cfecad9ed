import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { askProgress } from './agent-progress.ts';

const pod = (podIP?: string) => ({ metadata: { name: 'p', namespace: 'n' }, status: { podIP } }) as never;

/** The progress that is read from a server with this answer. */
async function asked(answer: RequestListener, timeoutMillis = 30_000) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const dialerTo = () => async () => connect(port, '127.0.0.1');
    return await askProgress(pod('10.0.0.1'), { dialerTo }, timeoutMillis);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

describe('the progress of an agent', () => {
  it('is read from its HTTP answer', async () => {
    const answer = { phase: 'saving', bytes: 10, totalBytes: 40, seconds: 2, bytesPerSecond: 5 };
    expect(await asked((_, response) => response.end(JSON.stringify(answer)))).toEqual({
      ...{ phase: 'saving', bytes: 10, totalBytes: 40, bytesPerSecond: 5 },
    });
  });

  it('is unknown if the answer is invalid, too long or missing', async () => {
    expect(await asked((_, response) => response.end('hello'))).toBeUndefined();
    expect(await asked((_, response) => response.end('{"bytes":-1}'))).toBeUndefined();
    expect(await asked((_, response) => response.end(`"${'x'.repeat(10_000)}"`))).toBeUndefined();
    expect(await asked((request) => request.socket.destroy())).toBeUndefined();
    expect(await asked(() => {}, 50)).toBeUndefined();
    expect(await askProgress(pod(), { dialerTo: undefined })).toBeUndefined();
  });
});
