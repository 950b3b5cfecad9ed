import type { Service } from '../../kube/object.ts';
import type { EndpointSlice } from '../kinds.ts';

export const clusterDomain = 'cluster.local';

/** Where a name leads: addresses, or other names with their ports. */
export interface Srv {
  readonly target: string;
  readonly port: number;
}

/** All names of the cluster. */
export interface Names {
  readonly addresses: ReadonlyMap<string, readonly string[]>;
  readonly services: ReadonlyMap<string, readonly Srv[]>;
  /** Names by address, for the way back. */
  readonly reverse: ReadonlyMap<string, readonly string[]>;
}

export interface Named {
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
}

interface Port {
  readonly name?: string | undefined;
  readonly protocol?: string | undefined;
}

class Book implements Names {
  readonly addresses = new Map<string, string[]>();
  readonly services = new Map<string, Srv[]>();
  readonly reverse = new Map<string, string[]>();

  address(name: string, address: string): void {
    add(this.addresses, name, address);
  }

  /** A port has a name of its own only if it is named. */
  port(full: string, { name = '', protocol = 'TCP' }: Port, srv: Srv): void {
    if (name !== '') add(this.services, `_${name}._${protocol.toLowerCase()}.${full}`, srv);
  }
}

function add<T>(map: Map<string, T[]>, key: string, value: T): void {
  const values = map.get(key) ?? [];
  if (!values.some((each) => JSON.stringify(each) === JSON.stringify(value))) values.push(value);
  map.set(key, values);
}

/** Writes down all names of services and of the pods behind those without an address of their own. */
export function namesOf({ services, slices }: Named): Names {
  const book = new Book();
  for (const service of services) {
    if (hasAddress(service)) virtualService(book, service);
    else headless(book, service, slices);
  }
  return book;
}

const hasAddress = ({ spec }: Service): boolean => !['None', '', undefined].includes(spec?.clusterIP);

const nameOf = ({ metadata }: Service): string => `${metadata.name}.${metadata.namespace}.svc.${clusterDomain}`;

const belongs = ({ metadata }: EndpointSlice, service: Service): boolean =>
  metadata.namespace === service.metadata.namespace &&
  metadata.labels?.['kubernetes.io/service-name'] === service.metadata.name;

function virtualService(book: Book, service: Service): void {
  const full = nameOf(service);
  const { clusterIP: address = '', ports = [] } = service.spec ?? {};
  book.address(full, address);
  add(book.reverse, address, full);
  for (const { name, port, protocol } of ports) book.port(full, { name, protocol }, { target: full, port });
}

/** A service without an address has those of the pods behind it, under its own name and under each pod's. */
function headless(book: Book, service: Service, slices: readonly EndpointSlice[]): void {
  const full = nameOf(service);
  for (const { endpoints, ports } of slices.filter((each) => belongs(each, service))) {
    // An empty list is null on the wire.
    const ready = (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
    for (const endpoint of ready) behind(book, full, { endpoint, ports: ports ?? [] });
  }
}

interface Behind {
  readonly endpoint: NonNullable<EndpointSlice['endpoints']>[number];
  readonly ports: NonNullable<EndpointSlice['ports']>;
}

function behind(book: Book, full: string, { endpoint: { addresses, hostname }, ports }: Behind): void {
  const [address = ''] = addresses;
  const own = `${hostname ?? address.replaceAll('.', '-')}.${full}`;
  book.address(full, address);
  book.address(own, address);
  add(book.reverse, address, own);
  for (const { name, port = 0, protocol } of ports) book.port(full, { name, protocol }, { target: own, port });
}
