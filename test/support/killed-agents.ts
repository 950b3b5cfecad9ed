import { readdirSync, readFileSync } from 'node:fs';
import { startFaultProxy } from './fault-proxy.ts';
import type { StoreServer } from './store-servers.ts';
import { until } from './until.ts';

/** A store in front of which agents can be caught half way, and killed there. */
export interface DeadlyStore extends AsyncDisposable {
  readonly server: StoreServer;
  /** How many agents were killed. */
  readonly kills: number;
  /** Waits until as many were. */
  readonly killed: (count: number) => Promise<void>;
}

/**
 * Some of the requests that ask for an object, or send one, are never answered, and the agents that made them are killed: so
 * whatever they do they are certainly in the middle of it. `turns` says which of them, counted from zero.
 */
export async function startDeadlyStore(
  server: StoreServer,
  { key, turns }: { readonly key: string; readonly turns: readonly number[] },
): Promise<DeadlyStore> {
  const endpoint = new URL(server.address.endpoint ?? '');
  const proxy = await startFaultProxy(server.port, endpoint.hostname);
  let [requests, kills] = [0, 0];
  proxy.fault = { is: 'silent' };
  proxy.concerns = (method, url) => {
    const isOfObject = (method === 'GET' || method === 'PUT') && new URL(url, endpoint).pathname.endsWith(`/${key}`);
    const isLast = isOfObject && turns.includes(requests++);
    if (isLast) kills += killAgents(String(proxy.port));
    return isLast;
  };
  return {
    server: { ...server, address: { ...server.address, endpoint: `http://${endpoint.hostname}:${proxy.port}` } },
    get kills() {
      return kills;
    },
    killed: async (count) => void (await until(`${count} agents were killed`, async () => kills >= count || undefined)),
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}

/** As the kernel does when memory is short: nobody is asked, and nothing is left behind. */
function killAgents(mark: string): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isAgent(name, mark));
  for (const pid of pids) process.kill(Number(pid), 'SIGKILL');
  return pids.length;
}

function isAgent(pid: string, mark: string): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return words.includes('agent') && words.some((word) => word.includes(mark));
  } catch {
    return false; // it has just ended
  }
}
