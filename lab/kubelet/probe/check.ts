import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { V1HTTPGetAction } from '@kubernetes/client-node';
import type { Json } from '../../../src/kube/object.ts';
import type { Container } from '../container/container.ts';
import type { ContainerSpec } from '../container/environment.ts';
import { type Probe, timeoutMillis } from './probe-state.ts';

export interface ProbeTarget {
  readonly spec: ContainerSpec;
  readonly container: Container;
  readonly podAddress: string;
  readonly dial: (host: string, port: number) => Promise<Socket>;
}

/** The result of one probe; `message` is for the Event. */
export interface ProbeResult {
  readonly result: 'success' | 'failure';
  readonly message: string;
}

const success: ProbeResult = { result: 'success', message: '' };
const failure = (message: string): ProbeResult => ({ result: 'failure', message });

/** Probes once, within the probe's timeout. */
export async function check(probe: Probe, target: ProbeTarget): Promise<ProbeResult> {
  const deadline = AbortSignal.timeout(timeoutMillis(probe));
  try {
    return await runProbe(probe, target, deadline);
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error));
  }
}

async function runProbe(probe: Probe, target: ProbeTarget, deadline: AbortSignal): Promise<ProbeResult> {
  const { exec, httpGet, tcpSocket } = probe;
  if (exec !== undefined) return await execProbe(exec.command ?? [], target, deadline);
  if (httpGet !== undefined) return await httpProbe(httpGet, target, deadline);
  if (tcpSocket === undefined) return failure('unsupported probe: the lab runs exec, httpGet and tcpSocket probes');
  const socket = await within(target.dial(hostOf(tcpSocket, target), portOf(tcpSocket.port, target.spec)), deadline);
  socket.destroy();
  return success;
}

async function execProbe(
  command: readonly string[],
  { container }: ProbeTarget,
  deadline: AbortSignal,
): Promise<ProbeResult> {
  const process = container.exec(command, { tty: false, stdin: false });
  let output = '';
  for (const stream of [process.stdout, process.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  try {
    const { code } = await within(process.ended, deadline);
    return code === 0 ? success : failure(output.trim());
  } catch (error) {
    process.abandon();
    throw error;
  }
}

async function httpProbe(
  action: Json<V1HTTPGetAction>,
  target: ProbeTarget,
  deadline: AbortSignal,
): Promise<ProbeResult> {
  const port = portOf(action.port, target.spec);
  const host = hostOf(action, target);
  const socket = await within(target.dial(host, port), deadline);
  const isSecure = action.scheme === 'HTTPS';
  const headers = Object.fromEntries((action.httpHeaders ?? []).map(({ name, value }) => [name, value]));
  const options = {
    host,
    port,
    path: action.path ?? '/',
    headers: { 'user-agent': 'kube-probe/lab', connection: 'close', ...headers },
    signal: deadline,
    ...(isSecure ? { socket, rejectUnauthorized: false, agent: false } : { createConnection: () => socket }),
  };
  const status = await new Promise<number>((resolve, reject) => {
    const request = (isSecure ? httpsRequest : httpRequest)(options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.once('error', reject);
    request.end();
  }).finally(() => socket.destroy());
  return status >= 200 && status < 400 ? success : failure(`HTTP probe failed with statuscode: ${status}`);
}

const hostOf = ({ host }: { readonly host?: string }, { podAddress }: ProbeTarget): string => host || podAddress;

/** The number of a port, given by number or by name. */
export function portOf(port: unknown, spec: ContainerSpec): number {
  const named = spec.ports?.find(({ name }) => name === port)?.containerPort;
  return named ?? Number(port);
}

function within<T>(work: Promise<T>, deadline: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    deadline.addEventListener('abort', () => reject(new Error('context deadline exceeded')), { once: true });
    work.then(resolve, reject);
  });
}
