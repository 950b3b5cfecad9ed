import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { userOf } from '../auth/authenticate.ts';
import { authorize } from '../auth/authorize.ts';
import type { RequestTarget } from '../http/paths.ts';
import { targetOf } from '../http/paths.ts';
import type { ServerState } from '../state.ts';
import { NoSuchPath, StatusError } from '../status-error.ts';
import { fail, finish, terminalOver } from './channels.ts';
import { type FoundContainer, findContainer, findPod } from './find.ts';
import { forwardOver, portIn } from './forward.ts';

const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

/** Serves exec, attach and port forwarding over WebSockets. */
export function makeUpgrader(state: ServerState): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  const server = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => protocols.find((one) => offered.has(one)) ?? false,
  });
  return (request, socket, head) => {
    socket.on('error', () => {}); // the client is gone
    accept(state, request)
      .then((serveSocket) =>
        server.handleUpgrade(request, socket, head, (opened) => {
          opened.on('error', () => {}); // the close event follows
          void serveSocket(opened);
        }),
      )
      .catch((error: unknown) => sendError(socket, error));
  };
}

/** Serves a client over its WebSocket. */
type ServeSocket = (socket: WebSocket) => Promise<void>;

async function accept(state: ServerState, request: IncomingMessage): Promise<ServeSocket> {
  const url = new URL(request.url ?? '/', 'https://lab');
  const user = await userOf(state, request);
  const target = targetOf(url.pathname);
  if (target?.plural !== 'pods' || !/^(exec|attach|portforward)$/.test(target.subresource ?? ''))
    throw new NoSuchPath();
  authorize(state, user, { verb: 'get', ...target });
  if (target.subresource === 'portforward') return servePort(state, target, url.searchParams);
  const context = { target, query: url.searchParams, ...findContainer(state, target, url.searchParams) };
  return (socket) => serveTerminal(socket, context);
}

function servePort(state: ServerState, target: RequestTarget, query: URLSearchParams): ServeSocket {
  const { pod, node } = findPod(state, target);
  const port = portIn(query);
  return (socket) => forwardOver(socket, port, () => node.forward(pod, port));
}

interface TerminalContext extends FoundContainer {
  readonly target: RequestTarget;
  readonly query: URLSearchParams;
}

async function serveTerminal(socket: WebSocket, { target, query, container, node }: TerminalContext): Promise<void> {
  const wants = (name: string): boolean => query.get(name) === 'true' || query.get(name) === '1';
  const terminal = terminalOver(socket, {
    stdin: wants('stdin'),
    stdout: wants('stdout'),
    stderr: wants('stderr'),
    tty: wants('tty'),
  });
  const exitCodeOf = async (): Promise<number> => {
    if (target.subresource === 'exec') return await node.exec(container, query.getAll('command'), terminal);
    await node.attach(container, terminal);
    return 0; // attach reports no exit code: the pod's status has it
  };
  try {
    finish(socket, await exitCodeOf());
  } catch (error) {
    fail(socket, error instanceof Error ? error.message : String(error));
  }
}

function sendError(socket: Duplex, error: unknown): void {
  const failure =
    error instanceof StatusError ? error : new StatusError(500, 'InternalError', { message: String(error) });
  const body = JSON.stringify(failure.status());
  socket.end(
    `HTTP/1.1 ${failure.code} ${failure.reason}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
