import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Readable, Transform } from 'node:stream';

/** What the proxy does in place of passing a request on. */
export type Fault =
  | { readonly is: 'status'; readonly code: number }
  | { readonly is: 'silent' } //    takes the request, and never answers
  | { readonly is: 'cut-short' } // passes the answer on, but only half of its bytes
  | { readonly is: 'flip' } //      passes the request on, with one byte of its body changed
  | { readonly is: 'reset' }; //    hangs up

export interface FaultProxy extends AsyncDisposable {
  readonly port: number;
  /** From now on; nothing passes everything on. */
  fault: Fault | undefined;
  /** Which requests it is for; all of them unless said. */
  concerns: (method: string, url: string) => boolean;
  /** How many requests came, whatever became of them. */
  readonly requests: number;
}

/** Stands in front of a real server, at the same address, and passes on until it is told to be bad. */
export async function startFaultProxy(serverPort: number, host = '127.0.0.1'): Promise<FaultProxy> {
  const proxy = {
    fault: undefined as Fault | undefined,
    concerns: (_method: string, _url: string) => true,
    requests: 0,
  };
  const server = createServer((incoming, outgoing) => {
    proxy.requests++;
    const isFor = proxy.concerns(incoming.method ?? '', incoming.url ?? '');
    handle(incoming, outgoing, { host, serverPort, fault: isFor ? proxy.fault : undefined });
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

interface Way {
  readonly host: string;
  readonly serverPort: number;
  readonly fault: Fault | undefined;
}

function handle(incoming: IncomingMessage, outgoing: ServerResponse, { host, serverPort, fault }: Way): void {
  incoming.on('error', () => {});
  outgoing.on('error', () => {}); // whoever asked may have gone
  if (fault?.is === 'silent') return void incoming.resume();
  if (fault?.is === 'reset') return void incoming.socket.destroy();
  if (fault?.is === 'status') {
    incoming.resume().once('end', () => outgoing.writeHead(fault.code, { 'content-length': 0 }).end());
    return;
  }
  const { method, url, headers } = incoming;
  const passed = request({ host, port: serverPort, method, path: url, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    if (fault?.is === 'cut-short') cutShort(answer, outgoing);
    else answer.pipe(outgoing);
  });
  passed.on('error', () => outgoing.destroy());
  bodyFor(incoming, fault).pipe(passed);
}

const bodyFor = (incoming: IncomingMessage, fault: Fault | undefined): Readable =>
  fault?.is === 'flip' ? incoming.pipe(flipping()) : incoming;

/** Changes one byte: far enough from the beginning that lists of blocks and other small requests stay as they are. */
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
