import type { ClientMove } from '../model/cluster.ts';
import type { CarrierName } from '../model/names.ts';
import type { SecretFiles } from '../model/template.ts';
import type { Blueprint } from './manifest.ts';

/**
 * How a member speaks on one of its two sides. `between`: it has certificates, and whoever has none is not shut out yet. To
 * peers it then listens without encryption, but speaks to those who have it; clients are served either way, on one port.
 */
export type Encryption = 'plain' | 'between' | 'encrypted';

/** Both sides of a member: to other members, and to clients. */
export interface Planes {
  readonly peer: Encryption;
  readonly client: Encryption;
}

export type Plane = keyof Planes;

/** What the spec asks for. */
export const wantedPlanes = ({ template }: Blueprint): Planes => ({
  peer: template.peerTLS === undefined ? 'plain' : 'encrypted',
  client: template.clientTLS === undefined ? 'plain' : clientsWanted(template.acceptsPlainClients === true),
});

const clientsWanted = (acceptsPlain: boolean): Encryption => (acceptsPlain ? 'between' : 'encrypted');

const opposite: Readonly<Record<Encryption, Encryption | undefined>> = {
  plain: 'encrypted',
  encrypted: 'plain',
  between: undefined,
};

/** Where all members go next: from one end to the other only by way of both, so that everybody always understands everybody. */
export function nextEncryption(wanted: Encryption, running: readonly Encryption[]): Encryption {
  const other = opposite[wanted];
  return other !== undefined && running.includes(other) ? 'between' : wanted;
}

/**
 * What clients have to be told, going by how members serve them; nothing where all serve as is wanted, and in one way only.
 * Members of a cluster that has not formed yet serve nobody.
 */
export function clientMove(wanted: Encryption, running: readonly Encryption[]): ClientMove | undefined {
  if (running.length === 0) return undefined;
  if (wanted === 'between') return 'either-way';
  if (running.every((encryption) => encryption === wanted)) return undefined;
  return wanted === 'encrypted' ? 'to-encryption' : 'to-plain';
}

/** What members are made from while they speak like that. */
export function speaking(blueprint: Blueprint, { peer, client }: Planes): Blueprint {
  const { intent, template, certificateFiles: files } = blueprint;
  const scheme = schemeOf(peer);
  return {
    ...blueprint,
    intent: { ...intent, peerURLOf: (name: CarrierName) => intent.peerURLOf(name).replace(/^https?/, scheme) },
    template: {
      ...template,
      peerTLS: filesFor(peer, template.peerTLS ?? files?.peer),
      clientTLS: filesFor(client, template.clientTLS ?? files?.client),
      ...(peer === 'between' ? { peersListen: 'http' } : {}),
      ...(client === 'between' ? { clientsServed: 'either-way' } : {}),
    },
  };
}

const filesFor = (encryption: Encryption, files: SecretFiles | undefined): SecretFiles | undefined =>
  encryption === 'plain' ? undefined : files;

export const schemeOf = (peer: Encryption): 'http' | 'https' => (peer === 'encrypted' ? 'https' : 'http');

/** The same, for one who has to listen in a certain way, if it is known in which. */
export function listeningAs(scheme: string | undefined, next: Encryption): Encryption {
  if (scheme === undefined || scheme === schemeOf(next)) return next;
  return scheme === 'https' ? 'encrypted' : 'between';
}

/** Reads back from its command how a member speaks. */
export function planesIn(command: readonly string[]): Planes {
  const valueOf = (flag: string): string => command.find((word) => word.startsWith(`${flag}=`)) ?? '';
  const isThere = (flag: string): boolean => valueOf(flag) !== '';
  const clients = valueOf('--listen-client-urls');
  return {
    peer: planeOf(valueOf('--listen-peer-urls').includes('=https:'), isThere('--peer-cert-file')),
    client: planeOf(clients.includes('https:') && !clients.includes('http:'), isThere('--cert-file')),
  };
}

function planeOf(onlyEncrypted: boolean, hasCertificate: boolean): Encryption {
  if (onlyEncrypted) return 'encrypted';
  return hasCertificate ? 'between' : 'plain';
}
