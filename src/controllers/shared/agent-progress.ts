import { request } from 'node:http';
import type { Socket } from 'node:net';
import { z } from 'zod';
import type { AgentProgress } from '../../core/backup/agent.ts';
import { progressPort } from '../../core/manifests/agent-pod.ts';
import type { Pod, Stored } from '../../kube/object.ts';
import type { ControllerContext } from './context.ts';

/** Progress is optional information, so the timeout is short. */
const defaultTimeoutMillis = 1_000;
const maxBytes = 4_096;

const progressSchema = z.object({
  phase: z.string().max(64),
  bytes: z.int().nonnegative(),
  totalBytes: z.int().nonnegative().optional(),
  bytesPerSecond: z.int().nonnegative(),
});

/**
 * Returns the progress that an agent reports; undefined if it does not answer, because it has ended or is unreachable.
 */
export async function askProgress(
  pod: Stored<Pod>,
  { dialerTo }: Pick<ControllerContext, 'dialerTo'>,
  timeoutMillis = defaultTimeoutMillis,
): Promise<AgentProgress | undefined> {
  const host = pod.status?.podIP;
  if (host === undefined) return undefined;
  const address = { host, port: progressPort };
  const signal = AbortSignal.timeout(timeoutMillis);
  try {
    const socket = await dialerTo?.(pod.metadata, address)(signal);
    return progressSchema.parse(JSON.parse(await bodyAt(address, socket, signal)));
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
  const sent = request({ ...address, ...by, signal }, (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (part: string) => {
      text += part;
      if (text.length > maxBytes) response.destroy(new Error('too long'));
    });
    response.on('end', () => resolve(text));
    response.on('error', reject);
  });
  sent.on('error', reject);
  sent.end();
  return promise;
}
