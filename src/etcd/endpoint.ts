import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, connect as connectTls } from 'node:tls';

/** What one side of a TLS connection shows and believes: PEM texts, never file names. */
export interface TlsIdentity {
  /** The authorities to believe; several are one text. */
  readonly ca: string;
  /** What we show when asked who we are. */
  readonly cert?: string;
  readonly key?: string;
  /** The name that the server's certificate must bear, where it is not the host of the URL. */
  readonly serverName?: string;
}

export interface Credentials {
  readonly user: string;
  readonly password: string;
  /** Which cluster they are for: its members know each other's tokens. */
  readonly realm?: string;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Opens a socket that leads to a member, other than by dialling it. `signal` calls it off; what is open stays open. */
export type Way = (signal: AbortSignal) => Promise<Socket>;

/** One member's client port, and how to enter. */
export interface Endpoint {
  /** `http://…` or `https://…`, with a name or an address. */
  readonly url: string;
  /** Without it, `https` believes what Node believes and shows nothing. */
  readonly tls?: TlsIdentity;
  /** Where to connect to in place of the URL's host and port, which still say whom we expect there: a port-forward, a Pod's address. */
  readonly dial?: Address;
  /** How to get there where nothing can be dialled. */
  readonly way?: Way;
  /** For what the member is asked; a connection goes when that is gone. */
  readonly owner?: string;
  /** A user of etcd's own. A server that has no users is asked without; only 3.1 takes the password for wrong then. */
  readonly credentials?: Credentials;
}

/** Two endpoints are the same member if they lead to the same place; certificates and passwords come and go. */
export const placeOf = ({ url, dial }: Endpoint): string =>
  dial === undefined ? url : `${url} by way of ${dial.host}:${dial.port}`;

/** Starts to connect. We open the socket ourselves, because the name to check may be neither the host nor what we dial. */
export function openSocket(endpoint: Endpoint): Socket {
  const target = new URL(endpoint.url);
  const address = endpoint.dial ?? addressOf(target);
  if (target.protocol === 'http:') return connectPlain({ ...address });
  return connectTls({ ...address, ...securityOf(endpoint) });
}

/** Speaks as the URL says over a socket that leads to the member. */
export const speakOver = (socket: Socket, endpoint: Endpoint): Socket =>
  new URL(endpoint.url).protocol === 'http:' ? socket : connectTls({ socket, ...securityOf(endpoint) });

function securityOf({ url, tls }: Endpoint): ConnectionOptions {
  const expected = tls?.serverName ?? addressOf(new URL(url)).host;
  return {
    ...credentialsOf(tls),
    ...(isIP(expected) === 0 ? { servername: expected } : {}), // TLS does not let us ask for an address by name
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
  const usual = url.protocol === 'http:' ? 80 : 443;
  return { host: withoutBrackets(url.hostname), port: url.port === '' ? usual : Number(url.port) };
}

/** `[::1]` in a URL is `::1` everywhere else. */
const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');
