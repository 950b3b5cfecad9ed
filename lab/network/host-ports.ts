import { once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';

/** Loopback: Services are reachable from this host only. */
export const hostAddress = '127.0.0.1';

const fileIn = (state: string): string => join(state, 'service-ports.json');

/** The host ports of Services, by namespace, name and port of the Service. */
export function readHostPorts(state: string): Readonly<Record<string, number>> {
  try {
    return JSON.parse(readFileSync(fileIn(state), 'utf8')) as Record<string, number>;
  } catch {
    return {}; // no port was ever opened
  }
}

/** Opens host ports for Services. A Service keeps its port when the lab restarts. */
export class HostPorts {
  readonly #state: string;
  readonly #ports: Map<string, number>;

  constructor(state: string) {
    this.#state = state;
    this.#ports = new Map(Object.entries(readHostPorts(state)));
  }

  /** Listens on the Service's previous port, or on another if that one is taken. */
  async listen(service: string): Promise<Server> {
    const previous = this.#ports.get(service) ?? 0;
    const server = await openServer(previous).catch(() => openServer(0));
    const address = server.address();
    if (typeof address === 'object' && address !== null && address.port !== previous) {
      this.#ports.set(service, address.port);
      this.#write();
    }
    return server;
  }

  /** Forgets the ports of Services that no longer exist. */
  keepOnly(services: ReadonlySet<string>): void {
    const gone = [...this.#ports.keys()].filter((service) => !services.has(service));
    if (gone.length === 0) return;
    for (const service of gone) this.#ports.delete(service);
    this.#write();
  }

  #write(): void {
    const file = fileIn(this.#state);
    mkdirSync(this.#state, { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.new`, JSON.stringify(Object.fromEntries(this.#ports)), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
}

async function openServer(port: number): Promise<Server> {
  const server = createServer({ noDelay: true }).listen(port, hostAddress);
  await once(server, 'listening');
  return server;
}
