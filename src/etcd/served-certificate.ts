import { connect } from 'node:tls';
import { Failure } from '../std/failure.ts';
import type { Address, Dialer, TlsIdentity } from './endpoint.ts';

/** A TLS port, and the client certificate and CA to use. */
export interface Listener {
  readonly dial: Address;
  readonly dialer?: Dialer | undefined;
  readonly tls: TlsIdentity;
}

/**
 * The fingerprint of the certificate that a port serves now. No request is sent, and the names in the certificate are
 * not checked. SNI is always sent: without it, etcd 3.2 serves the certificate from its start.
 */
export async function servedCertificate({ dial, dialer, tls }: Listener, signal: AbortSignal): Promise<string> {
  const { ca, cert, key, serverName: servername = 'etcd' } = tls;
  const target = dialer === undefined ? dial : { socket: await dialer(signal) };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const fail = (why: string): void =>
    reject(new Failure('unreachable', `${dial.host}:${dial.port} serves no certificate: ${why}`));
  const socket = connect({ ...target, servername, ca, cert, key, checkServerIdentity: () => undefined }, () => {
    resolve(socket.getPeerX509Certificate()?.fingerprint256 ?? '');
  });
  socket.on('error', ({ message }) => fail(message));
  const abort = (): void => fail('aborted');
  signal.addEventListener('abort', abort, { once: true });
  return promise.finally(() => {
    signal.removeEventListener('abort', abort);
    socket.destroy();
  });
}
