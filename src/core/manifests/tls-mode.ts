import type { ClientMigration } from '../cluster/model/cluster.ts';
import type { MemberName } from '../cluster/model/names.ts';
import type { SecretFiles } from '../cluster/model/template.ts';
import type { Blueprint } from './manifest.ts';

/**
 * The TLS mode of peer or client traffic. `dual-mode`: the member has certificates and still accepts plaintext. For
 * peers it listens on http and connects to peers with https as well. Clients are served with http and https on one
 * port.
 */
export type TlsMode = 'plain' | 'dual-mode' | 'encrypted';

/** The TLS modes of a member. */
export interface TlsModes {
  readonly peer: TlsMode;
  readonly client: TlsMode;
}

export type TlsChannel = keyof TlsModes;

/** The TLS modes in the spec. */
export const wantedTlsModes = ({ template }: Blueprint): TlsModes => ({
  peer: template.peerTLS === undefined ? 'plain' : 'encrypted',
  client: template.clientTLS === undefined ? 'plain' : clientsWanted(template.acceptsPlainClients === true),
});

const clientsWanted = (acceptsPlain: boolean): TlsMode => (acceptsPlain ? 'dual-mode' : 'encrypted');

const opposite: Readonly<Record<TlsMode, TlsMode | undefined>> = {
  plain: 'encrypted',
  encrypted: 'plain',
  'dual-mode': undefined,
};

/**
 * The next TLS mode of all members. Changes go through dual-mode, so that all members can always connect to each other.
 */
export function nextTlsMode(wanted: TlsMode, running: readonly TlsMode[]): TlsMode {
  const other = opposite[wanted];
  return other !== undefined && running.includes(other) ? 'dual-mode' : wanted;
}

/**
 * The change of client TLS that clients must follow; undefined if all members serve the wanted mode only. Before the
 * cluster has formed there are no running modes.
 */
export function clientMigration(wanted: TlsMode, running: readonly TlsMode[]): ClientMigration | undefined {
  if (running.length === 0) return undefined;
  if (wanted === 'dual-mode') return 'either-way';
  if (running.every((encryption) => encryption === wanted)) return undefined;
  return wanted === 'encrypted' ? 'to-encryption' : 'to-plain';
}

/** The blueprint of members with these TLS modes. */
export function withTlsModes(blueprint: Blueprint, { peer, client }: TlsModes): Blueprint {
  const { intent, template, certificateFiles: files } = blueprint;
  const scheme = schemeOf(peer);
  return {
    ...blueprint,
    intent: { ...intent, peerURLOf: (name: MemberName) => intent.peerURLOf(name).replace(/^https?/, scheme) },
    template: {
      ...template,
      peerTLS: filesFor(peer, template.peerTLS ?? files?.peer),
      clientTLS: filesFor(client, template.clientTLS ?? files?.client),
      ...(peer === 'dual-mode' ? { peersListen: 'http' } : {}),
      ...(client === 'dual-mode' ? { clientsServed: 'either-way' } : {}),
    },
  };
}

const filesFor = (encryption: TlsMode, files: SecretFiles | undefined): SecretFiles | undefined =>
  encryption === 'plain' ? undefined : files;

export const schemeOf = (peer: TlsMode): 'http' | 'https' => (peer === 'encrypted' ? 'https' : 'http');

/** The TLS mode of a member that must listen with a given scheme, if any. */
export function tlsModeForScheme(scheme: string | undefined, next: TlsMode): TlsMode {
  if (scheme === undefined || scheme === schemeOf(next)) return next;
  return scheme === 'https' ? 'encrypted' : 'dual-mode';
}

/** Reads the TLS modes from the command of a pod. */
export function tlsModesIn(command: readonly string[]): TlsModes {
  const valueOf = (flag: string): string => command.find((word) => word.startsWith(`${flag}=`)) ?? '';
  const isThere = (flag: string): boolean => valueOf(flag) !== '';
  const clients = valueOf('--listen-client-urls');
  return {
    peer: tlsModeOf(valueOf('--listen-peer-urls').includes('=https:'), isThere('--peer-cert-file')),
    client: tlsModeOf(clients.includes('https:') && !clients.includes('http:'), isThere('--cert-file')),
  };
}

function tlsModeOf(onlyEncrypted: boolean, hasCertificate: boolean): TlsMode {
  if (onlyEncrypted) return 'encrypted';
  return hasCertificate ? 'dual-mode' : 'plain';
}
