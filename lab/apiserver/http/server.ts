import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import { userOf } from '../auth/authenticate.ts';
import { authorizePath } from '../auth/authorize.ts';
import { discover } from '../discovery.ts';
import versionInfo from '../gen/version.json' with { type: 'json' };
import { openapi } from '../openapi.ts';
import { openapiV2 } from '../openapi-v2.ts';
import type { ServerState } from '../state.ts';
import { NoSuchPath } from '../status-error.ts';
import { makeUpgrader } from '../streams/upgrade.ts';
import { formOf } from './negotiate.ts';
import { parseRequest, serveResource } from './resources.ts';
import { type Request, type Response, sendAs, sendFailure, sendJson, sendText } from './respond.ts';

export interface Credentials {
  readonly key: string;
  readonly certificate: string;
  readonly ca: string;
}

export function makeServer(state: ServerState, { key, certificate, ca }: Credentials): Http2SecureServer {
  const server = createSecureServer({
    key,
    cert: certificate,
    ca,
    allowHTTP1: true,
    requestCert: true,
    rejectUnauthorized: false,
    maxSessionMemory: 1000, // in MB; a client that requests more at once gets an error
  });
  server.on('request', (request: Request, response: Response) => {
    response.on('error', () => {}); // the client is gone
    serve(state, request, response).catch((error: unknown) => sendFailure(response, error));
  });
  server.on('upgrade', makeUpgrader(state));
  server.on('sessionError', () => {});
  server.on('tlsClientError', () => {});
  server.on('secureConnection', (socket: Socket) => socket.on('error', () => {}));
  return server;
}

const health = new Set(['/healthz', '/livez', '/readyz']);

async function serve(state: ServerState, request: Request, response: Response): Promise<void> {
  const url = new URL(request.url, 'https://lab');
  const user = await userOf(state, request);
  const parsed = parseRequest(state, request.method, url);
  if (parsed !== undefined) return serveResource({ state, user, request, response, url }, parsed);
  authorizePath(state, user, { path: url.pathname, verb: request.method.toLowerCase() });
  if (health.has(url.pathname)) return sendText(response, 200, 'ok');
  if (url.pathname === '/openapi/v2') return sendAs(response, openapiV2(request.headers.accept));
  sendJson(response, 200, documentAt(state, request, url));
}

function documentAt(state: ServerState, request: Request, url: URL): object {
  if (url.pathname === '/version') return versionInfo;
  if (url.pathname.startsWith('/openapi/')) return orNoSuchPath(openapi(state, url.pathname));
  return orNoSuchPath(discover(state, url.pathname, formOf(request.headers.accept, url.searchParams)));
}

function orNoSuchPath(document: object | undefined): object {
  if (document === undefined) throw new NoSuchPath();
  return document;
}
