import { connect, type Socket } from 'node:net';
import type { Address, Way } from '../etcd/endpoint.ts';
import type { At } from '../kube/object.ts';
import type { PodPort } from '../kube/port-forward.ts';
import { Failure } from '../std/failure.ts';

export interface WaysOptions {
  /** Opens a port-forward. */
  readonly forward: (target: PodPort, signal: AbortSignal) => Promise<Socket>;
  /** Whether pods' addresses are tried at all. */
  readonly straight: boolean;
  /** Told once, when we have found out that pods' addresses lead nowhere. */
  readonly onForwards: () => void;
}

/** How long an address may be silent before we go another way. */
const silenceMillis = 1_000;
/** How long a port-forward may take to open. */
const openingMillis = 10_000;

/**
 * Ways to pods for a program outside their cluster: straight where their addresses lead to them, and otherwise through the
 * API server. Where nobody answers at an address whose pod is reached the other way, no address is tried again; one that
 * refuses us may belong to an etcd that is not up yet, or to a wall, so only this one time we go the other way.
 */
export function waysToPods({ forward, straight, onForwards }: WaysOptions): (pod: At, address: Address) => Way {
  let isRouted = straight;
  const open = async (pod: At, address: Address): Promise<Socket> => {
    const direct = isRouted ? await dial(address) : 'refused';
    if (typeof direct === 'object') return direct;
    const socket = await within(openingMillis, (signal) => forward({ ...pod, port: address.port }, signal));
    if (direct === 'silent' && isRouted) {
      isRouted = false;
      onForwards();
    }
    return socket;
  };
  return ({ namespace, name }, address) =>
    async (signal) =>
      await unlessGivenUp(open({ namespace, name }, address), signal);
}

/** A connection, or why there is none. */
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

/** Calls work off that takes too long; once it has ended, it is left alone. */
async function within<T>(millis: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), millis);
  try {
    return await work(limit.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** What is found out on the way is of use for the next one, so opening goes on when it is given up; what it opens is closed. */
function unlessGivenUp(opening: Promise<Socket>, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const giveUp = (): void => {
    reject(new Failure('unreachable', 'given up before it was connected'));
    opening.then(
      (socket) => socket.on('error', () => {}).destroy(),
      () => {}, // nobody waits for it any more
    );
  };
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  opening.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  return promise;
}
