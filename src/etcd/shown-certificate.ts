import { connect } from 'node:tls';
import { Failure } from '../std/failure.ts';
import type { Address, TlsIdentity, Way } from './endpoint.ts';

/** A port that speaks TLS, and what we show and believe there. */
export interface Listener {
  readonly dial: Address;
  readonly way?: Way | undefined;
  readonly tls: TlsIdentity;
}

/**
 * The fingerprint of the certificate that a listener shows now. Nothing is asked of it, and which names it bears does not
 * matter. But somebody has to be asked for: to who names nobody, etcd 3.2 shows the certificate that it started with.
 */
export async function shownCertificate({ dial, way, tls }: Listener, signal: AbortSignal): Promise<string> {
  const { ca, cert, key, serverName: servername = 'etcd' } = tls;
  const there = way === undefined ? dial : { socket: await way(signal) };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const fail = (why: string): void =>
    reject(new Failure('unreachable', `${dial.host}:${dial.port} shows no certificate: ${why}`));
  const socket = connect({ ...there, servername, ca, cert, key, checkServerIdentity: () => undefined }, () => {
    resolve(socket.getPeerX509Certificate()?.fingerprint256 ?? '');
  });
  socket.on('error', ({ message }) => fail(message));
  const giveUp = (): void => fail('called off');
  signal.addEventListener('abort', giveUp, { once: true });
  return promise.finally(() => {
    signal.removeEventListener('abort', giveUp);
    socket.destroy();
  });
}
