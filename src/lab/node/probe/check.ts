import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { V1HTTPGetAction } from '@kubernetes/client-node';
import type { Json } from '../../../kube/object.ts';
import type { Container } from '../container/container.ts';
import type { ContainerSpec } from '../container/environment.ts';
import { type Probe, timeoutMillis } from './probe-state.ts';

export interface Probed {
  readonly spec: ContainerSpec;
  readonly container: Container;
  readonly podAddress: string;
  readonly dial: (host: string, port: number) => Promise<Socket>;
}

/** What one look found; `says` is for the event. */
export interface Finding {
  readonly result: 'success' | 'failure';
  readonly says: string;
}

const good: Finding = { result: 'success', says: '' };
const bad = (says: string): Finding => ({ result: 'failure', says });

/** Looks once, in the way the probe names, for as long as it allows. */
export async function check(probe: Probe, probed: Probed): Promise<Finding> {
  const limit = AbortSignal.timeout(timeoutMillis(probe));
  try {
    return await look(probe, probed, limit);
  } catch (error) {
    return bad(error instanceof Error ? error.message : String(error));
  }
}

async function look(probe: Probe, probed: Probed, limit: AbortSignal): Promise<Finding> {
  const { exec, httpGet, tcpSocket } = probe;
  if (exec !== undefined) return await run(exec.command ?? [], probed, limit);
  if (httpGet !== undefined) return await get(httpGet, probed, limit);
  if (tcpSocket === undefined) return bad('the lab does not know this kind of probe');
  const socket = await within(probed.dial(hostOf(tcpSocket, probed), portOf(tcpSocket.port, probed.spec)), limit);
  socket.destroy();
  return good;
}

async function run(command: readonly string[], { container }: Probed, limit: AbortSignal): Promise<Finding> {
  const process = container.exec(command, { tty: false, stdin: false });
  let said = '';
  for (const stream of [process.stdout, process.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  try {
    const { code } = await within(process.ended, limit);
    return code === 0 ? good : bad(said.trim());
  } catch (error) {
    process.abandon();
    throw error;
  }
}

async function get(action: Json<V1HTTPGetAction>, probed: Probed, limit: AbortSignal): Promise<Finding> {
  const port = portOf(action.port, probed.spec);
  const host = hostOf(action, probed);
  const socket = await within(probed.dial(host, port), limit);
  const isSecure = action.scheme === 'HTTPS';
  const headers = Object.fromEntries((action.httpHeaders ?? []).map(({ name, value }) => [name, value]));
  const options = {
    host,
    port,
    path: action.path ?? '/',
    headers: { 'user-agent': 'kube-probe/lab', connection: 'close', ...headers },
    signal: limit,
    ...(isSecure ? { socket, rejectUnauthorized: false, agent: false } : { createConnection: () => socket }),
  };
  const status = await new Promise<number>((resolve, reject) => {
    const asked = (isSecure ? httpsRequest : httpRequest)(options, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    asked.once('error', reject);
    asked.end();
  }).finally(() => socket.destroy());
  return status >= 200 && status < 400 ? good : bad(`HTTP probe failed with statuscode: ${status}`);
}

const hostOf = ({ host }: { readonly host?: string }, { podAddress }: Probed): string => host || podAddress;

/** A port by number, or by the name that the container gives it. */
export function portOf(port: unknown, spec: ContainerSpec): number {
  const named = spec.ports?.find(({ name }) => name === port)?.containerPort;
  return named ?? Number(port);
}

function within<T>(work: Promise<T>, limit: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    limit.addEventListener('abort', () => reject(new Error('context deadline exceeded')), { once: true });
    work.then(resolve, reject);
  });
}
