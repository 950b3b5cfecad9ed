import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, connect as connectTls } from 'node:tls';

/** CA, certificate and key of one side of a TLS connection, as PEM texts. */
export interface TlsIdentity {
  /** The trusted CA certificates, concatenated. */
  readonly ca: string;
  /** The client certificate. */
  readonly cert?: string;
  readonly key?: string;
  /** The name that the server certificate must contain. Default: the host of the URL. */
  readonly serverName?: string;
}

export interface Credentials {
  readonly user: string;
  readonly password: string;
  /** The cluster of these credentials. Its members accept each other's tokens. */
  readonly realm?: string;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Opens a socket to a member by other means than its address. `signal` aborts the attempt; an open socket stays open.
 */
export type Dialer = (signal: AbortSignal) => Promise<Socket>;

/** The client port of a member, and the credentials for it. */
export interface Endpoint {
  /** `http://…` or `https://…`, with a host name or an IP address. */
  readonly url: string;
  /** Without it, `https` trusts Node's CAs and sends no client certificate. */
  readonly tls?: TlsIdentity;
  /** The address to connect to, such as a pod IP. The host of the URL is still the expected name in the certificate. */
  readonly dial?: Address;
  /** Opens the socket if the address cannot be dialled. */
  readonly dialer?: Dialer;
  /** The key of the cluster. Its deletion closes the connection. */
  readonly owner?: string;
  /** An etcd user. If authentication is disabled they are not used; only 3.1 then reports a wrong password. */
  readonly credentials?: Credentials;
}

/** Identifies a member by URL and address. Certificates and passwords may change. */
export const endpointLabel = ({ url, dial }: Endpoint): string =>
  dial === undefined ? url : `${url} (via ${dial.host}:${dial.port})`;

/** Opens a socket. The name to verify may differ from both the host of the URL and the dialled address. */
export function openSocket(endpoint: Endpoint): Socket {
  const target = new URL(endpoint.url);
  const address = endpoint.dial ?? addressOf(target);
  if (target.protocol === 'http:') return connectPlain({ ...address });
  return connectTls({ ...address, ...securityOf(endpoint) });
}

/** Adds TLS to a connected socket if the URL is `https`. */
export const withTls = (socket: Socket, endpoint: Endpoint): Socket =>
  new URL(endpoint.url).protocol === 'http:' ? socket : connectTls({ socket, ...securityOf(endpoint) });

function securityOf({ url, tls }: Endpoint): ConnectionOptions {
  const expected = tls?.serverName ?? addressOf(new URL(url)).host;
  return {
    ...credentialsOf(tls),
    ...(isIP(expected) === 0 ? { servername: expected } : {}), // SNI allows no IP address
    checkServerIdentity: (_dialled, certificate) => checkServerIdentity(expected, certificate),
    ALPNProtocols: ['h2'],
  };
}

const credentialsOf = (tls: TlsIdentity | undefined): Pick<ConnectionOptions, 'ca' | 'cert' | 'key'> => ({
  ca: tls?.ca,
  cert: tls?.cert,
  key: tls?.key,
});

function addressOf(url: URL): Address {
  const defaultPort = url.protocol === 'http:' ? 80 : 443;
  return { host: withoutBrackets(url.hostname), port: url.port === '' ? defaultPort : Number(url.port) };
}

/** `[::1]` in a URL is `::1` everywhere else. */
const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');
