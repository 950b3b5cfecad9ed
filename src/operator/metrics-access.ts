import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { BlockList } from 'node:net';
import { Failure } from '../std/failure.ts';
import type { Settings } from './settings.ts';

export type MetricsAccess = Settings['metrics'];

export interface MetricsRefusal {
  readonly code: 401 | 403 | 500;
  readonly text: string;
}

type MetricsRequest = Pick<IncomingMessage, 'headers'> & {
  readonly socket: Pick<IncomingMessage['socket'], 'remoteAddress'>;
};

/**
 * Why a request for /metrics is refused; undefined if it is allowed. /readyz and /livez are always open to the kubelet.
 */
export async function refusalOfMetrics(
  request: MetricsRequest,
  access: MetricsAccess,
): Promise<MetricsRefusal | undefined> {
  if (access.loopbackOnly && !isLoopback(request.socket.remoteAddress))
    return { code: 403, text: '/metrics is only available inside the pod (--metrics-loopback-only)\n' };
  if (access.tokenFile === undefined) return undefined;
  try {
    return refusalOfToken(request.headers.authorization, await tokenIn(access.tokenFile));
  } catch (thrown) {
    return { code: 500, text: `${Failure.from(thrown).message}\n` };
  }
}

/** Reads the token. It is read for each request, because a mounted Secret may change. */
export async function tokenIn(file: string): Promise<string> {
  const token = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Failure(
      'rejected',
      `--metrics-token-file: ${file} cannot be read (${error.code}): mount the Secret with the token`,
    );
  });
  if (token.trim() === '') throw new Failure('rejected', `--metrics-token-file: ${file} is empty: put a token into it`);
  return token.trim();
}

function refusalOfToken(header: string | undefined, token: string): MetricsRefusal | undefined {
  const [, given = ''] = /^Bearer +(\S+)$/i.exec(header ?? '') ?? [];
  if (timingSafeEqual(hashOf(given), hashOf(token))) return undefined;
  return { code: 401, text: '/metrics needs the bearer token of --metrics-token-file\n' };
}

/** Hashes have equal length, as timingSafeEqual requires. */
const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** A dual-stack server reports IPv4 clients as `::ffff:127.0.0.1`, which the BlockList matches. */
const isLoopback = (address = ''): boolean => loopback.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
