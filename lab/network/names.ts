import type { EndpointSlice, Service } from '../../src/kube/object.ts';

export const clusterDomain = 'cluster.local';

/** The target of an SRV record. */
export interface Srv {
  readonly target: string;
  readonly port: number;
}

/** All DNS names of the cluster. */
export interface Names {
  readonly addresses: ReadonlyMap<string, readonly string[]>;
  readonly services: ReadonlyMap<string, readonly Srv[]>;
  /** Names by address, for PTR queries. */
  readonly reverse: ReadonlyMap<string, readonly string[]>;
}

export interface NameSources {
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
}

interface Port {
  readonly name?: string | undefined;
  readonly protocol?: string | undefined;
}

class NameTable implements Names {
  readonly addresses = new Map<string, string[]>();
  readonly services = new Map<string, Srv[]>();
  readonly reverse = new Map<string, string[]>();

  address(name: string, address: string): void {
    add(this.addresses, name, address);
  }

  /** Adds the SRV record of a named port. An unnamed port has none. */
  port(full: string, { name = '', protocol = 'TCP' }: Port, srv: Srv): void {
    if (name !== '') add(this.services, `_${name}._${protocol.toLowerCase()}.${full}`, srv);
  }
}

function add<T>(map: Map<string, T[]>, key: string, value: T): void {
  const values = map.get(key) ?? [];
  if (!values.some((each) => JSON.stringify(each) === JSON.stringify(value))) values.push(value);
  map.set(key, values);
}

/** Computes the DNS names of all Services, and of the pods behind headless Services. */
export function namesOf({ services, slices }: NameSources): Names {
  const table = new NameTable();
  for (const service of services) {
    if (hasAddress(service)) addService(table, service);
    else addHeadlessService(table, service, slices);
  }
  return table;
}

const hasAddress = ({ spec }: Service): boolean => !['None', '', undefined].includes(spec?.clusterIP);

const nameOf = ({ metadata }: Service): string => `${metadata.name}.${metadata.namespace}.svc.${clusterDomain}`;

const belongs = ({ metadata }: EndpointSlice, service: Service): boolean =>
  metadata.namespace === service.metadata.namespace &&
  metadata.labels?.['kubernetes.io/service-name'] === service.metadata.name;

function addService(table: NameTable, service: Service): void {
  const full = nameOf(service);
  const { clusterIP: address = '', ports = [] } = service.spec ?? {};
  table.address(full, address);
  add(table.reverse, address, full);
  for (const { name, port, protocol } of ports) table.port(full, { name, protocol }, { target: full, port });
}

/** A headless Service has the addresses of its ready pods, under its own name and under each pod's name. */
function addHeadlessService(table: NameTable, service: Service, slices: readonly EndpointSlice[]): void {
  const full = nameOf(service);
  for (const { endpoints, ports } of slices.filter((each) => belongs(each, service))) {
    // The API writes an empty list as null.
    const ready = (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
    for (const endpoint of ready) addEndpoint(table, full, { endpoint, ports: ports ?? [] });
  }
}

interface EndpointAndPorts {
  readonly endpoint: NonNullable<EndpointSlice['endpoints']>[number];
  readonly ports: NonNullable<EndpointSlice['ports']>;
}

function addEndpoint(
  table: NameTable,
  full: string,
  { endpoint: { addresses, hostname }, ports }: EndpointAndPorts,
): void {
  const [address = ''] = addresses;
  const own = `${hostname ?? address.replaceAll('.', '-')}.${full}`;
  table.address(full, address);
  table.address(own, address);
  add(table.reverse, address, own);
  for (const { name, port = 0, protocol } of ports) table.port(full, { name, protocol }, { target: own, port });
}
