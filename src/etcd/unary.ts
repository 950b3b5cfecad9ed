import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import { Code, ConnectError } from '@connectrpc/connect';

export interface UnaryOptions {
  readonly signal: AbortSignal;
  /** The size limit of the answer. */
  readonly mostBytes: number;
}

/** The flag for compression, and the length of the message. */
const prefixBytes = 5;

/** The request headers of a unary call. */
export const unaryHeaders = ({ millis, token }: { readonly millis: number; readonly token: string }) => ({
  'content-type': 'application/grpc',
  te: 'trailers',
  'grpc-timeout': `${Math.ceil(millis)}m`,
  'user-agent': 'etcd-operator',
  ...(token === '' ? {} : { token }),
});

/**
 * One unary gRPC call on a new stream: sends one message, and returns the bytes of the answer. Errors are thrown as a
 * ConnectError, as by the library that makes the streaming calls. That library needs five times the CPU for this.
 */
export async function unary(
  stream: ClientHttp2Stream,
  message: Uint8Array,
  { signal, mostBytes }: UnaryOptions,
): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const answer = new Answer(mostBytes);
  const attempt = (step: () => void): void => {
    try {
      step();
    } catch (thrown) {
      reject(thrown);
    }
  };
  const abort = (): void => reject(new ConnectError('the call was aborted', Code.Canceled));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  stream.on('response', (headers) => attempt(() => answer.begin(headers)));
  stream.on('data', (part: Uint8Array) => attempt(() => answer.add(part)));
  stream.on('trailers', (trailers) => answer.end(trailers));
  stream.on('error', (error) => reject(callError(error)));
  stream.on('close', () => attempt(() => resolve(answer.message())));
  stream.end(framed(message));
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', abort);
    if (!stream.closed) stream.close(constants.NGHTTP2_CANCEL);
  }
}

/** An error of a connection or stream, with its cause. */
export function callError(thrown: unknown): ConnectError {
  if (thrown instanceof ConnectError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new ConnectError(message, Code.Internal, undefined, undefined, thrown);
}

function framed(message: Uint8Array): Uint8Array {
  const frame = Buffer.allocUnsafe(prefixBytes + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, prefixBytes);
  return frame;
}

/** The parts of an answer, as they arrive. */
class Answer {
  readonly #mostBytes: number;
  readonly #parts: Uint8Array[] = [];
  #bytes = 0;
  #trailers: IncomingHttpHeaders | undefined;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  begin(headers: IncomingHttpHeaders): void {
    const { 'content-type': type = '' } = headers;
    const status = Number(headers[':status']);
    if (headers['grpc-status'] !== undefined) return this.end(headers); // an error without a message
    if (status !== 200) throw new ConnectError(`HTTP ${status}`, codeOfHttp[status] ?? Code.Unknown);
    if (!type.startsWith('application/grpc')) throw new ConnectError(`unsupported content type ${type}`, Code.Internal);
  }

  add(part: Uint8Array): void {
    this.#parts.push(part);
    this.#bytes += part.length;
    const announced = this.#bytes < prefixBytes ? 0 : lengthIn(this.#whole());
    if (Math.max(announced, this.#bytes - prefixBytes) <= this.#mostBytes) return;
    throw new ConnectError(`the answer is larger than ${this.#mostBytes} bytes`, Code.ResourceExhausted);
  }

  end(trailers: IncomingHttpHeaders): void {
    this.#trailers = trailers;
  }

  /** The message, once the stream is closed. */
  message(): Uint8Array {
    if (this.#trailers === undefined) throw new ConnectError('the stream ended without a status', Code.Internal);
    const { 'grpc-status': status, 'grpc-message': text } = this.#trailers;
    if (status !== '0') throw new ConnectError(decoded(text), codeOf(status));
    const whole = this.#whole();
    const isComplete = whole.length >= prefixBytes && whole.length === prefixBytes + lengthIn(whole);
    if (!isComplete || whole[0] !== 0) throw new ConnectError('the answer is not one whole message', Code.Internal);
    return new Uint8Array(whole.buffer, whole.byteOffset + prefixBytes, whole.length - prefixBytes); // not a Buffer
  }

  /** All parts as one; usually there is only one. */
  #whole(): Uint8Array {
    if (this.#parts.length !== 1) this.#parts.splice(0, this.#parts.length, Buffer.concat(this.#parts));
    return this.#parts[0] ?? new Uint8Array(0);
  }
}

const lengthIn = (whole: Uint8Array): number => new DataView(whole.buffer, whole.byteOffset).getUint32(1);

/** The gRPC code of an answer of a web server or proxy, by the specification of gRPC. */
const codeOfHttp: Readonly<Record<number, Code>> = {
  400: Code.Internal,
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
  404: Code.Unimplemented,
  429: Code.Unavailable,
  502: Code.Unavailable,
  503: Code.Unavailable,
  504: Code.Unavailable,
};

const codes: ReadonlySet<unknown> = new Set(Object.values(Code));

function codeOf(status: unknown): Code {
  const code = Number(status);
  return codes.has(code) ? code : Code.Unknown;
}

/** Messages are percent-encoded. A malformed message is kept as it is. */
function decoded(text: unknown): string {
  const message = typeof text === 'string' ? text : '';
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
