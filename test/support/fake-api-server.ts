import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type FakeAnswer = (response: ServerResponse, request: FakeRequest) => void | Promise<void>;

/** An HTTP server with the answers of the test, even wrong ones. */
export interface FakeApiServer {
  readonly url: string;
  readonly requests: readonly FakeRequest[];
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

export async function fakeApiServer(answer: FakeAnswer): Promise<FakeApiServer> {
  const requests: FakeRequest[] = [];
  const server = createServer((incoming, response) => {
    const reply = async (): Promise<void> => {
      const request = await read(incoming);
      requests.push(request);
      await answer(response, request);
    };
    reply().catch((error: Error) => response.destroy(error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function read(incoming: IncomingMessage): Promise<FakeRequest> {
  const url = new URL(incoming.url ?? '', 'http://fake');
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const { method = '', headers } = incoming;
  return { method, headers, path: url.pathname, query: url.searchParams, body: Buffer.concat(chunks).toString() };
}

/** Answers with an object. */
export function json(response: ServerResponse, object: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(object));
}

/** Answers with a Failure status, as the API server does. */
export const refuse = (response: ServerResponse, code: number, reason: string): void =>
  json(
    response,
    { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: `it is ${reason}`, reason, code },
    code,
  );

/** One line of a watch. */
export const line = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;
