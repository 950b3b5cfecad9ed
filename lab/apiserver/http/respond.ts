import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { NoSuchPath, StatusError } from '../status-error.ts';

export type Request = Http2ServerRequest;
/** Both HTTP versions have flushHeaders; the types declare it for one only. */
export type Response = Http2ServerResponse & { flushHeaders(): void };

export function sendJson(response: Response, code: number, body: object): void {
  response.statusCode = code;
  response.setHeader('content-type', mediaOf(body));
  response.setHeader('cache-control', 'no-cache, private');
  response.end(`${JSON.stringify(body)}\n`);
}

export function sendText(response: Response, code: number, text: string): void {
  response.statusCode = code;
  response.setHeader('content-type', 'text/plain; charset=utf-8');
  response.end(text);
}

export function sendAs(
  response: Response,
  { media, body }: { readonly media: string; readonly body: string | Uint8Array },
): void {
  response.statusCode = 200;
  response.setHeader('content-type', media);
  response.end(body);
}

export function sendFailure(response: Response, error: unknown): void {
  if (response.headersSent) return void response.end();
  if (error instanceof NoSuchPath) return sendText(response, 404, `${error.message}\n`);
  const failure = error instanceof StatusError ? error : internal(error);
  const { retryAfterSeconds } = failure.details;
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', String(retryAfterSeconds));
  sendJson(response, failure.code, failure.status());
}

function internal(error: unknown): StatusError {
  const detail = error instanceof Error ? error.message : String(error);
  if (error instanceof Error) process.emitWarning(error);
  return new StatusError(500, 'InternalError', { message: `Internal error occurred: ${detail}` });
}

/** Escapes quotes and backslashes in a warning. */
const quoted = (text: string): string => text.replaceAll(/["\\]/g, String.raw`\$&`);

export function addWarnings(response: Response, warnings: readonly string[] = []): void {
  if (warnings.length > 0)
    response.setHeader(
      'warning',
      warnings.map((text) => `299 - "${quoted(text)}"`),
    );
}

const maxBodyBytes = 3 * 1024 * 1024;

export async function bodyOf(request: Request): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > maxBodyBytes)
      throw new StatusError(413, 'RequestEntityTooLarge', {
        message: `Request entity too large: limit is ${maxBodyBytes}`,
      });
  }
  return Buffer.concat(chunks);
}

/** Clients of discovery read from the media type which form they received. */
const mediaOf = (body: object): string =>
  'kind' in body && body.kind === 'APIGroupDiscoveryList'
    ? 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    : 'application/json';
