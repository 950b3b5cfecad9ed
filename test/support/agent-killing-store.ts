import { readdirSync, readFileSync } from 'node:fs';
import { startFaultProxy } from './fault-proxy.ts';
import type { StoreServer } from './store-servers.ts';
import { until } from './until.ts';

/** A proxy to a store that kills agents in the middle of a request. */
export interface AgentKillingStore extends AsyncDisposable {
  readonly server: StoreServer;
  /** The number of killed agents. */
  readonly kills: number;
  /** Waits until this many agents were killed. */
  readonly killed: (count: number) => Promise<void>;
}

/**
 * Never answers some GET and PUT requests for an object, and kills the agents that sent them. `turns` has the indexes of these
 * requests.
 */
export async function startAgentKillingStore(
  server: StoreServer,
  { key, turns }: { readonly key: string; readonly turns: readonly number[] },
): Promise<AgentKillingStore> {
  const endpoint = new URL(server.address.endpoint ?? '');
  const proxy = await startFaultProxy(server.port, endpoint.hostname);
  let [requests, kills] = [0, 0];
  proxy.fault = { is: 'silent' };
  proxy.appliesTo = (method, url) => {
    const isForObject = (method === 'GET' || method === 'PUT') && new URL(url, endpoint).pathname.endsWith(`/${key}`);
    const isKilled = isForObject && turns.includes(requests++);
    if (isKilled) kills += killAgents(String(proxy.port));
    return isKilled;
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

/** Kills agents with SIGKILL, as the OOM killer does. */
function killAgents(port: string): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isAgent(name, port));
  for (const pid of pids) process.kill(Number(pid), 'SIGKILL');
  return pids.length;
}

function isAgent(pid: string, port: string): boolean {
  try {
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return args.includes('agent') && args.some((arg) => arg.includes(port));
  } catch {
    return false; // the process has just ended
  }
}
