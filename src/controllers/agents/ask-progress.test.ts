import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { askProgress } from './ask-progress.ts';

const pod = (podIP?: string) => ({ metadata: { name: 'p', namespace: 'n' }, status: { podIP } }) as never;

/** What is understood of a server that answers so. */
async function asked(answer: RequestListener, patienceMillis = 30_000) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const wayTo = () => async () => connect(port, '127.0.0.1');
    return await askProgress(pod('10.0.0.1'), { wayTo }, patienceMillis);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

describe('how far an agent is', () => {
  it('is what it says', async () => {
    const says = { phase: 'saving', bytes: 10, totalBytes: 40, seconds: 2, bytesPerSecond: 5 };
    expect(await asked((_, response) => response.end(JSON.stringify(says)))).toEqual({
      ...{ phase: 'saving', bytes: 10, totalBytes: 40, bytesPerSecond: 5 },
    });
  });

  it('is not known where it says something else, too much or nothing', async () => {
    expect(await asked((_, response) => response.end('hello'))).toBeUndefined();
    expect(await asked((_, response) => response.end('{"bytes":-1}'))).toBeUndefined();
    expect(await asked((_, response) => response.end(`"${'x'.repeat(10_000)}"`))).toBeUndefined();
    expect(await asked((request) => request.socket.destroy())).toBeUndefined();
    expect(await asked(() => {}, 50)).toBeUndefined();
    expect(await askProgress(pod(), { wayTo: undefined })).toBeUndefined();
  });
});
