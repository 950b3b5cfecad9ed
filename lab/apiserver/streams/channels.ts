import { PassThrough, Writable } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Terminal } from '../../streams.ts';

/** The first byte of a message is its channel. */
const channel = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

export interface Wanted {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

type Size = { width: number; height: number };

/** The streams of a process over one WebSocket, by protocol `v5.channel.k8s.io`. */
export function terminalOver(socket: WebSocket, wanted: Wanted): Terminal {
  const stdin = new PassThrough();
  const sizes = new PassThrough({ objectMode: true });
  socket.on('message', (data: Buffer) => {
    const [first, rest] = [data[0], data.subarray(1)];
    if (first === channel.stdin) stdin.write(rest);
    else if (first === channel.close && rest[0] === channel.stdin) stdin.end();
    else if (first === channel.resize) resize(sizes, rest);
  });
  socket.once('close', () => {
    stdin.end();
    sizes.end();
  });
  return {
    tty: wanted.tty,
    stdout: sender(socket, channel.stdout),
    ...(wanted.stdin && { stdin: stdin }),
    ...(wanted.stderr && !wanted.tty && { stderr: sender(socket, channel.stderr) }),
    ...(wanted.tty && { resizes: sizes as AsyncIterable<Size> }),
  };
}

/** Ignores an invalid size. */
function resize(sizes: Writable, bytes: Buffer): void {
  try {
    const { Width = 0, Height = 0 } = JSON.parse(bytes.toString()) as { Width?: number; Height?: number };
    sizes.write({ width: Width, height: Height } satisfies Size);
  } catch {
    // not a size
  }
}

const sender = (socket: WebSocket, to: number): Writable =>
  new Writable({
    write: (chunk: Buffer, _encoding, done) => socket.send(Buffer.concat([Buffer.of(to), chunk]), () => done()),
  });

/** Sends the exit code and closes the WebSocket. */
export function finish(socket: WebSocket, code: number): void {
  const failure = {
    status: 'Failure',
    reason: 'NonZeroExitCode',
    message: `command terminated with non-zero exit code: command terminated with exit code ${code}`,
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  };
  sendStatus(socket, code === 0 ? { status: 'Success' } : failure);
}

export const fail = (socket: WebSocket, message: string): void =>
  sendStatus(socket, { status: 'Failure', reason: 'InternalError', message, code: 500 });

function sendStatus(socket: WebSocket, status: object): void {
  const content = JSON.stringify({ metadata: {}, ...status });
  socket.send(Buffer.concat([Buffer.of(channel.error), Buffer.from(content)]), () => socket.close(1000));
}
