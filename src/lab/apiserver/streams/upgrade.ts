import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { userOf } from '../auth/authenticate.ts';
import { authorize } from '../auth/authorize.ts';
import type { Target } from '../http/paths.ts';
import { targetOf } from '../http/paths.ts';
import { NoSuchPath, Refusal } from '../refusal.ts';
import type { ServerState } from '../state.ts';
import { fail, finish, terminalOver } from './channels.ts';
import { type Reached, reach, reachPod } from './find.ts';
import { forwardOver, portIn } from './forward.ts';

const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

/** Serves exec, attach and forwarded ports, which turn their connection into a WebSocket. */
export function makeUpgrader(state: ServerState): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  const server = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => protocols.find((one) => offered.has(one)) ?? false,
  });
  return (request, socket, head) => {
    socket.on('error', () => {}); // a client that is gone needs no answer
    accept(state, request)
      .then((converse) =>
        server.handleUpgrade(request, socket, head, (opened) => {
          opened.on('error', () => {}); // it closes, too
          void converse(opened);
        }),
      )
      .catch((error: unknown) => refuse(socket, error));
  };
}

/** Speaks with a client over the WebSocket that its connection became. */
type Converse = (socket: WebSocket) => Promise<void>;

async function accept(state: ServerState, request: IncomingMessage): Promise<Converse> {
  const url = new URL(request.url ?? '/', 'https://lab');
  const user = await userOf(state, request);
  const target = targetOf(url.pathname);
  if (target?.plural !== 'pods' || !/^(exec|attach|portforward)$/.test(target.subresource ?? ''))
    throw new NoSuchPath();
  authorize(state, user, { verb: 'get', ...target });
  if (target.subresource === 'portforward') return forwarding(state, target, url.searchParams);
  const asked = { target, query: url.searchParams, ...reach(state, target, url.searchParams) };
  return (socket) => inTerminal(socket, asked);
}

function forwarding(state: ServerState, target: Target, query: URLSearchParams): Converse {
  const { pod, node } = reachPod(state, target);
  const port = portIn(query);
  return (socket) => forwardOver(socket, port, () => node.forward(pod, port));
}

interface Asked extends Reached {
  readonly target: Target;
  readonly query: URLSearchParams;
}

async function inTerminal(socket: WebSocket, { target, query, container, node }: Asked): Promise<void> {
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
    return 0; // to watch a program fail is no failure; how it ended is in the pod's status
  };
  try {
    finish(socket, await exitCodeOf());
  } catch (error) {
    fail(socket, error instanceof Error ? error.message : String(error));
  }
}

function refuse(socket: Duplex, error: unknown): void {
  const refusal = error instanceof Refusal ? error : new Refusal(500, 'InternalError', { message: String(error) });
  const body = JSON.stringify(refusal.status());
  socket.end(
    `HTTP/1.1 ${refusal.code} ${refusal.reason}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
