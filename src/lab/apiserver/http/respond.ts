import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { NoSuchPath, Refusal } from '../refusal.ts';

export type Request = Http2ServerRequest;
/** Either protocol can send its headers before there is a body, though the types know this only of one. */
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
  const refusal = error instanceof Refusal ? error : internal(error);
  const { retryAfterSeconds } = refusal.details;
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', String(retryAfterSeconds));
  sendJson(response, refusal.code, refusal.status());
}

function internal(error: unknown): Refusal {
  const says = error instanceof Error ? error.message : String(error);
  if (error instanceof Error) process.emitWarning(error);
  return new Refusal(500, 'InternalError', { message: `Internal error occurred: ${says}` });
}

/** Quotes and backslashes would end the text of a warning too early. */
const quoted = (text: string): string => text.replaceAll(/["\\]/g, String.raw`\$&`);

export function addWarnings(response: Response, warnings: readonly string[] = []): void {
  if (warnings.length > 0)
    response.setHeader(
      'warning',
      warnings.map((text) => `299 - "${quoted(text)}"`),
    );
}

const largestBody = 3 * 1024 * 1024;

export async function bodyOf(request: Request): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > largestBody)
      throw new Refusal(413, 'RequestEntityTooLarge', { message: `Request entity too large: limit is ${largestBody}` });
  }
  return Buffer.concat(chunks);
}

/** Clients of discovery tell by the media type whether they got the form they asked for. */
const mediaOf = (body: object): string =>
  'kind' in body && body.kind === 'APIGroupDiscoveryList'
    ? 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    : 'application/json';
