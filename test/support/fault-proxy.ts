import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Readable, Transform } from 'node:stream';

/** The fault that the proxy injects into a request. */
export type Fault =
  | { readonly is: 'status'; readonly code: number }
  | { readonly is: 'silent' } //    accepts the request and never answers
  | { readonly is: 'cut-short' } // forwards only half of the response body
  | { readonly is: 'flip' } //      forwards the request with one byte of its body changed
  | { readonly is: 'reset' }; //    closes the connection

export interface FaultProxy extends AsyncDisposable {
  readonly port: number;
  /** The current fault; undefined forwards every request. */
  fault: Fault | undefined;
  /** The requests with the fault; all by default. */
  appliesTo: (method: string, url: string) => boolean;
  /** The number of requests, with or without a fault. */
  readonly requests: number;
}

/** A proxy to a real server on the same host. It forwards requests until `fault` is set. */
export async function startFaultProxy(serverPort: number, host = '127.0.0.1'): Promise<FaultProxy> {
  const proxy = {
    fault: undefined as Fault | undefined,
    appliesTo: (_method: string, _url: string) => true,
    requests: 0,
  };
  const server = createServer((incoming, outgoing) => {
    proxy.requests++;
    const isAffected = proxy.appliesTo(incoming.method ?? '', incoming.url ?? '');
    handle(incoming, outgoing, { host, serverPort, fault: isAffected ? proxy.fault : undefined });
  });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return Object.assign(proxy, {
    port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  });
}

interface Route {
  readonly host: string;
  readonly serverPort: number;
  readonly fault: Fault | undefined;
}

function handle(incoming: IncomingMessage, outgoing: ServerResponse, { host, serverPort, fault }: Route): void {
  incoming.on('error', () => {});
  outgoing.on('error', () => {}); // the client may have disconnected
  if (fault?.is === 'silent') return void incoming.resume();
  if (fault?.is === 'reset') return void incoming.socket.destroy();
  if (fault?.is === 'status') {
    incoming.resume().once('end', () => outgoing.writeHead(fault.code, { 'content-length': 0 }).end());
    return;
  }
  const { method, url, headers } = incoming;
  // A connection of its own: the server may close a kept connection at the moment at which it is used again.
  const connection = { host, port: serverPort, agent: false } as const;
  const forwarded = request({ ...connection, method, path: url, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    if (fault?.is === 'cut-short') cutShort(answer, outgoing);
    else answer.pipe(outgoing);
  });
  forwarded.on('error', () => outgoing.destroy());
  bodyFor(incoming, fault).pipe(forwarded);
}

const bodyFor = (incoming: IncomingMessage, fault: Fault | undefined): Readable =>
  fault?.is === 'flip' ? incoming.pipe(flipping()) : incoming;

/** Flips one bit at byte 10,000, so that small requests such as block lists are unchanged. */
function flipping(): Transform {
  const at = 10_000;
  let passed = 0;
  return new Transform({
    transform: (part: Buffer, _encoding, done) => {
      const index = at - passed;
      passed += part.length;
      if (index >= 0 && index < part.length) part.writeUInt8(part.readUInt8(index) ^ 1, index);
      done(null, part);
    },
  });
}

function cutShort(answer: IncomingMessage, outgoing: ServerResponse): void {
  const half = Number(answer.headers['content-length'] ?? 0) / 2;
  let sent = 0;
  answer.on('data', (part: Buffer) => {
    const some = part.subarray(0, Math.max(0, half - sent));
    sent += some.length;
    outgoing.write(some, () => {
      if (sent >= half) outgoing.destroy();
    });
  });
}
