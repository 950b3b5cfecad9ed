import { once } from 'node:events';
import { connect, createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Code } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { unary, unaryHeaders } from './unary.ts';

const grpc = { ':status': 200, 'content-type': 'application/grpc' };
const frameOf = (text: string, { flag = 0, length = text.length } = {}): Buffer =>
  Buffer.from([flag, 0, 0, 0, length, ...Buffer.from(text)]);

/** Answers with parts and trailers. */
const answering =
  (parts: readonly Uint8Array[], trailers: Record<string, string> | 'none' = { 'grpc-status': '0' }) =>
  (stream: ServerHttp2Stream): void => {
    stream.respond(grpc, { waitForTrailers: true });
    stream.once('wantTrailers', () => (trailers === 'none' ? stream.close() : stream.sendTrailers(trailers)));
    for (const part of parts) stream.write(part);
    stream.end();
  };

interface Caller {
  readonly signal: AbortSignal;
  /** The connection stays open until then. */
  readonly until?: Promise<unknown>;
}

/** Calls a server that serves each stream with `serve`. */
async function call(
  serve: (stream: ServerHttp2Stream) => void,
  { signal, until }: Caller = { signal: new AbortController().signal },
): Promise<string> {
  const server = createServer();
  server.on('stream', (stream) => serve(stream.on('error', () => {}))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  try {
    const stream = session.request({ ':method': 'POST', ':path': '/x/Y', ...unaryHeaders({ millis: 5, token: 't' }) });
    const answer = await unary(stream, Buffer.from('question'), { signal, mostBytes: 32 });
    expect(Object.getPrototypeOf(answer), 'values of keys are no Buffers').toBe(Uint8Array.prototype);
    return Buffer.from(answer).toString();
  } finally {
    await until;
    session.destroy();
    server.close();
  }
}

describe('a unary call', () => {
  it('sends one message and returns the message of the answer', async () => {
    const sent: Buffer[] = [];
    const answer = await call((stream) => {
      stream.on('data', (part: Buffer) => sent.push(part));
      stream.once('end', () => answering([frameOf('answer')])(stream));
    });
    expect(answer).toBe('answer');
    expect(Buffer.concat(sent)).toEqual(frameOf('question'));
  });

  it('returns an answer that arrives in parts, also within its length', async () => {
    const whole = frameOf('answer');
    expect(await call(answering([whole.subarray(0, 2), whole.subarray(2, 7), whole.subarray(7)]))).toBe('answer');
  });

  it('returns an empty message', async () => {
    expect(await call(answering([frameOf('')]))).toBe('');
  });

  const refused = { 'grpc-status': '5', 'grpc-message': 'not%20here' };
  it.each([
    ['refusal after an answer', answering([frameOf('answer')], refused), Code.NotFound, 'not here'],
    [
      'refusal without an answer',
      (s: ServerHttp2Stream) => s.respond({ ...grpc, ...refused }, { endStream: true }),
      Code.NotFound,
      'not here',
    ],
    [
      'malformed message of a refusal',
      answering([], { 'grpc-status': '13', 'grpc-message': '100%' }),
      Code.Internal,
      '100%',
    ],
    ['unknown status', answering([], { 'grpc-status': '99' }), Code.Unknown, ''],
    [
      'web server',
      (s: ServerHttp2Stream) => s.respond({ ':status': 404 }, { endStream: true }),
      Code.Unimplemented,
      'HTTP 404',
    ],
    [
      'web page',
      (s: ServerHttp2Stream) => s.respond({ ':status': 200, 'content-type': 'text/html' }, { endStream: true }),
      Code.Internal,
      'unsupported content type text/html',
    ],
    ['answer without a status', answering([frameOf('answer')], 'none'), Code.Internal, 'without a status'],
    ['truncated answer', answering([frameOf('answ', { length: 6 })]), Code.Internal, 'not one whole message'],
    ['second message', answering([frameOf('one'), frameOf('two')]), Code.Internal, 'not one whole message'],
    ['missing message', answering([]), Code.Internal, 'not one whole message'],
    ['compressed answer', answering([frameOf('answer', { flag: 1 })]), Code.Internal, 'not one whole message'],
    ['answer above the limit', answering([frameOf('x'.repeat(33))]), Code.ResourceExhausted, 'larger than 32 bytes'],
    [
      'announced length above the limit',
      (s: ServerHttp2Stream) => void (s.respond(grpc), s.write(frameOf('', { length: 33 }))),
      Code.ResourceExhausted,
      'larger than 32 bytes',
    ],
    ['reset stream', (s: ServerHttp2Stream) => s.close(2), Code.Internal, 'NGHTTP2_INTERNAL_ERROR'],
    ['broken connection', (s: ServerHttp2Stream) => s.session?.destroy(), Code.Internal, ''],
  ])('fails for a %s', async (_, serve, ...[code, message]) => {
    await expect(call(serve)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });

  it('cancels its stream when it is aborted, and fails at once', async () => {
    const { promise: reset, resolve } = Promise.withResolvers<number>();
    const caller = new AbortController();
    const serve = (stream: ServerHttp2Stream): void => {
      stream.once('close', () => resolve(stream.rstCode));
      caller.abort();
    };
    await expect(call(serve, { signal: caller.signal, until: reset })).rejects.toMatchObject({ code: Code.Canceled });
    expect(await reset).toBe(8);
  });
});
