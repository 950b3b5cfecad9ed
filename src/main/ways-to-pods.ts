import { connect, type Socket } from 'node:net';
import { type Expected, isEtcd } from '../etcd/answers.ts';
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

type WayTo = (pod: At, address: Address, expected?: Expected) => Way;

/**
 * Ways to pods for a program outside their cluster. An address is dialled only where etcd itself answers; any other way is a
 * port-forward. Pod networks use private addresses, so another machine, or a proxy, may accept connections there.
 *
 * An address without etcd whose pod is reached by port-forward ends the use of addresses. A refusal does not, nor does silence
 * after etcd has answered at another address: that etcd may not be up yet. Ports other than etcd's client port are dialled once
 * etcd has answered somewhere.
 */
export function waysToPods({ forward, straight, onForwards }: WaysOptions): WayTo {
  let addresses: 'unproven' | 'proven' | 'useless' = straight ? 'unproven' : 'useless';
  const direct = async (address: Address, expected: Expected | undefined): Promise<Socket | Obstacle> => {
    if (addresses === 'useless' || (addresses === 'unproven' && expected === undefined)) return 'untried';
    const found = expected === undefined ? undefined : await obstacleTo(address, expected);
    if (found !== undefined) return found;
    if (addresses === 'unproven') addresses = 'proven';
    return await dial(address);
  };
  const open = async (pod: At, address: Address, expected: Expected | undefined): Promise<Socket> => {
    const found = await direct(address, expected);
    if (typeof found === 'object') return found;
    const socket = await within(openingMillis, (signal) => forward({ ...pod, port: address.port }, signal));
    const isUseless = found === 'silent' || (found === 'foreign' && addresses === 'unproven');
    if (isUseless && addresses !== 'useless') {
      addresses = 'useless';
      onForwards();
    }
    return socket;
  };
  return ({ namespace, name }, address, expected) =>
    async (signal) =>
      await unlessGivenUp(open({ namespace, name }, address, expected), signal);
}

/** Why an address is not used: it was not tried, it refuses, nothing is there, or something that is not etcd. */
type Obstacle = 'untried' | 'refused' | 'silent' | 'foreign';

async function obstacleTo(address: Address, expected: Expected): Promise<Obstacle | undefined> {
  const socket = await dial(address);
  if (typeof socket !== 'object') return socket;
  return (await isEtcd(socket, expected, silenceMillis)) ? undefined : 'foreign';
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
