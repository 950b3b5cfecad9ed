import { connect, type Socket } from 'node:net';
import type { Address, Dialer } from '../etcd/endpoint.ts';
import { type ExpectedServer, isEtcd } from '../etcd/is-etcd.ts';
import type { NamespacedName } from '../kube/object.ts';
import type { PodPort } from '../kube/port-forward.ts';
import { Failure } from '../std/failure.ts';

export interface RouteOptions {
  /** Opens a port-forward. */
  readonly forward: (target: PodPort, signal: AbortSignal) => Promise<Socket>;
  /** True if pod addresses are tried. */
  readonly direct: boolean;
  /** Called once, when pod addresses turn out to be unreachable. */
  readonly onForwards: () => void;
}

/** The timeout of a direct connection. */
const silenceMillis = 1_000;
/** The timeout for opening a port-forward. */
const openingMillis = 10_000;

type DialerTo = (pod: NamespacedName, address: Address, expected?: ExpectedServer) => Dialer;

/**
 * Routes to pods for an operator outside the cluster. A pod address is used only if etcd answers there; otherwise a
 * port-forward is used. Pod networks have private addresses, so a foreign machine or a proxy may accept connections at
 * a pod address.
 *
 * Pod addresses are no longer tried after one is unreachable or is not etcd, and the port-forward to the same pod
 * works. A refused connection does not count. Nor does an address that accepts connections without an answer from etcd,
 * if etcd has answered elsewhere: that etcd may still be starting. Other ports are dialled directly once etcd has
 * answered at some address.
 */
export function routesToPods({ forward, direct: isDirect, onForwards }: RouteOptions): DialerTo {
  let addresses: 'unproven' | 'proven' | 'unusable' = isDirect ? 'unproven' : 'unusable';
  const direct = async (address: Address, expected: ExpectedServer | undefined): Promise<Socket | Obstacle> => {
    if (addresses === 'unusable' || (addresses === 'unproven' && expected === undefined)) return 'untried';
    const found = expected === undefined ? undefined : await obstacleTo(address, expected);
    if (found !== undefined) return found;
    if (addresses === 'unproven') addresses = 'proven';
    return await dial(address);
  };
  const open = async (pod: NamespacedName, address: Address, expected: ExpectedServer | undefined): Promise<Socket> => {
    const found = await direct(address, expected);
    if (typeof found === 'object') return found;
    const socket = await within(openingMillis, (signal) => forward({ ...pod, port: address.port }, signal));
    const isUnusable = found === 'silent' || (found === 'foreign' && addresses === 'unproven');
    if (isUnusable && addresses !== 'unusable') {
      addresses = 'unusable';
      onForwards();
    }
    return socket;
  };
  return ({ namespace, name }, address, expected) =>
    async (signal) =>
      await abortable(open({ namespace, name }, address, expected), signal);
}

/** Why an address is not used: not tried, connection refused, no answer, or not etcd. */
type Obstacle = 'untried' | 'refused' | 'silent' | 'foreign';

async function obstacleTo(address: Address, expected: ExpectedServer): Promise<Obstacle | undefined> {
  const socket = await dial(address);
  if (typeof socket !== 'object') return socket;
  return (await isEtcd(socket, expected, silenceMillis)) ? undefined : 'foreign';
}

/** Opens a connection, or returns why it failed. */
function dial(address: Address): Promise<Socket | 'refused' | 'silent'> {
  const { promise, resolve } = Promise.withResolvers<Socket | 'refused' | 'silent'>();
  const socket = connect({ ...address });
  socket.setTimeout(silenceMillis, () => socket.destroy());
  socket.once('connect', () => {
    socket.setTimeout(0);
    resolve(socket);
  });
  socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' ? 'refused' : 'silent'));
  socket.once('close', () => resolve('silent'));
  return promise;
}

/** Aborts work that takes longer than `millis`. */
async function within<T>(millis: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), millis);
  try {
    return await work(limit.signal);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Rejects on abort. Opening continues in the background, because its result decides the next route; its socket is
 * closed.
 */
function abortable(opening: Promise<Socket>, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const giveUp = (): void => {
    reject(new Failure('unreachable', 'aborted before the connection was open'));
    opening.then(
      (socket) => socket.on('error', () => {}).destroy(),
      () => {}, // the caller has been rejected already
    );
  };
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  opening.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  return promise;
}
