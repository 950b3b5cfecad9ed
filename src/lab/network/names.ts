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

class Book implements Names {
  readonly addresses = new Map<string, string[]>();
  readonly services = new Map<string, Srv[]>();
  readonly reverse = new Map<string, string[]>();

  address(name: string, address: string): void {
    add(this.addresses, name, address);
  }

  service(name: string, srv: Srv): void {
    add(this.services, name, srv);
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
    const full = nameOf(service);
    const address = service.spec?.clusterIP;
    if (address !== undefined && address !== 'None' && address !== '') virtualService(book, service, full);
    else for (const slice of slices.filter((each) => belongs(each, service))) headless(book, slice, full);
  }
  return book;
}

const nameOf = ({ metadata }: Service): string => `${metadata.name}.${metadata.namespace}.svc.${clusterDomain}`;

const belongs = ({ metadata }: EndpointSlice, service: Service): boolean =>
  metadata.namespace === service.metadata.namespace &&
  metadata.labels?.['kubernetes.io/service-name'] === service.metadata.name;

function virtualService(book: Book, { spec }: Service, full: string): void {
  const address = spec?.clusterIP ?? '';
  book.address(full, address);
  add(book.reverse, address, full);
  for (const { name, port, protocol = 'TCP' } of spec?.ports ?? []) {
    if (name !== undefined) book.service(`_${name}._${protocol.toLowerCase()}.${full}`, { target: full, port });
  }
}

/** A service without an address has those of the pods behind it, under its own name and under each pod's. */
function headless(book: Book, { endpoints, ports }: EndpointSlice, full: string): void {
  // An empty list is null on the wire.
  for (const { addresses, hostname, conditions } of endpoints ?? []) {
    if (conditions?.ready === false) continue;
    const [address = ''] = addresses;
    const own = `${hostname ?? address.replaceAll('.', '-')}.${full}`;
    book.address(full, address);
    book.address(own, address);
    add(book.reverse, address, own);
    for (const { name = '', port = 0, protocol = 'TCP' } of ports ?? []) {
      if (name !== '') book.service(`_${name}._${protocol.toLowerCase()}.${full}`, { target: own, port });
    }
  }
}
