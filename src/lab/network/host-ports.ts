import { once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';

/** Whoever is on this machine may come in; nobody else. */
export const hostAddress = '127.0.0.1';

const fileIn = (state: string): string => join(state, 'service-ports.json');

/** The ports of this machine that lead to services, by the service's namespace, name and port. */
export function portsIn(state: string): Readonly<Record<string, number>> {
  try {
    return JSON.parse(readFileSync(fileIn(state), 'utf8')) as Record<string, number>;
  } catch {
    return {}; // none was ever opened
  }
}

/** Listens on this machine for services; each keeps its port, also when the lab is started again. */
export class HostPorts {
  readonly #state: string;
  readonly #ports: Map<string, number>;

  constructor(state: string) {
    this.#state = state;
    this.#ports = new Map(Object.entries(portsIn(state)));
  }

  /** On the port it had, unless somebody else has that now. */
  async listen(service: string): Promise<Server> {
    const known = this.#ports.get(service) ?? 0;
    const server = await opened(known).catch(() => opened(0));
    const address = server.address();
    if (typeof address === 'object' && address !== null && address.port !== known) {
      this.#ports.set(service, address.port);
      this.#write();
    }
    return server;
  }

  /** A service that is gone has no port any more; one of the same name gets another. */
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

async function opened(port: number): Promise<Server> {
  const server = createServer({ noDelay: true }).listen(port, hostAddress);
  await once(server, 'listening');
  return server;
}
