import { request } from 'node:http';
import type { Socket } from 'node:net';
import { z } from 'zod';
import { progressPort } from '../../core/desired/agent-pod.ts';
import type { AgentProgress } from '../../core/model/agent.ts';
import type { Pod, Stored } from '../../kube/object.ts';
import type { Tools } from '../cluster/sources.ts';

/** Nobody waits long for what is nice to know. */
const usualMillis = 1_000;
const mostBytes = 4_096;

const answered = z.object({
  phase: z.string().max(64),
  bytes: z.int().nonnegative(),
  totalBytes: z.int().nonnegative().optional(),
  bytesPerSecond: z.int().nonnegative(),
});

/** How far an agent is, as it says itself; nothing where it does not say: it may just have ended, or be behind a wall. */
export async function askProgress(
  pod: Stored<Pod>,
  { wayTo }: Pick<Tools, 'wayTo'>,
  patienceMillis = usualMillis,
): Promise<AgentProgress | undefined> {
  const host = pod.status?.podIP;
  if (host === undefined) return undefined;
  const address = { host, port: progressPort };
  const signal = AbortSignal.timeout(patienceMillis);
  try {
    const socket = await wayTo?.(pod.metadata, address)(signal);
    return answered.parse(JSON.parse(await bodyAt(address, socket, signal)));
  } catch {
    return undefined;
  }
}

function bodyAt(
  address: { readonly host: string; readonly port: number },
  socket: Socket | undefined,
  signal: AbortSignal,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const by = socket === undefined ? { agent: false } : { createConnection: () => socket };
  const asked = request({ ...address, ...by, signal }, (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (part: string) => {
      text += part;
      if (text.length > mostBytes) response.destroy(new Error('too long'));
    });
    response.on('end', () => resolve(text));
    response.on('error', reject);
  });
  asked.on('error', reject);
  asked.end();
  return promise;
}
