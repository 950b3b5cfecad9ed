import { unpacked } from '../debian/packages.ts';
import { run } from '../lib/run.ts';
import type { Layout, Node } from './layout.ts';

/** The switch has one port per machine, named after it, and one for this computer. */
const hostPort = 'host';

/** Connects the host to the switch, and adds routes to the pods. */
export async function connectHost(layout: Layout, switchPid: number): Promise<void> {
  await ip(['link', 'add', layout.link, 'type', 'veth', 'peer', 'name', hostPort, 'netns', String(switchPid)]);
  await ipBatch([
    `address add ${layout.hostAddress}/24 dev ${layout.link}`,
    `link set ${layout.link} up`,
    ...layout.nodes.map((node) => `route add ${node.podSubnet} via ${node.address}`),
  ]);
  await ipBatch(['link add switch type bridge', 'link set switch up', ...plugIn(hostPort)], switchPid);
}

export interface Socket {
  readonly port: string;
  readonly address: string;
  readonly pid: number;
}

/** Connects a machine to the switch. The machine configures its address when it boots. */
export async function connectMachine(switchPid: number, { port, address, pid }: Socket): Promise<void> {
  const cable = `link add ${port} type veth peer name eth0 address ${hardwareAddress(address)} netns ${pid}`;
  await ipBatch([cable, ...plugIn(port)], switchPid);
}

const plugIn = (port: string): readonly string[] => [`link set ${port} master switch`, `link set ${port} up`];

/** A MAC address derived from the IP, so that the ARP caches of other machines stay valid after a restart. */
const hardwareAddress = (address: string): string =>
  ['02', '00', ...address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'))].join(':');

/** Drops all traffic between two machines, pods included. All other machines stay reachable. */
export async function cut(
  node: { readonly pid: number },
  other: Pick<Node, 'name' | 'address' | 'podSubnet'>,
): Promise<void> {
  const peers = `{ ${other.address}, ${other.podSubnet} }`;
  const hooks = ['input', 'forward', 'output'].map(
    (hook) => `chain ${hook} { type filter hook ${hook} priority 0; ip saddr ${peers} drop; ip daddr ${peers} drop; }`,
  );
  const table = tableFor(other.name);
  await nft(
    node.pid,
    `table inet ${table}\ndelete table inet ${table}\ntable inet ${table} {\n${hooks.join('\n')}\n}\n`,
  );
}

/** Undoes `cut`; does nothing without a cut. */
export async function reconnect(node: { readonly pid: number }, other: Pick<Node, 'name'>): Promise<void> {
  const table = tableFor(other.name);
  await nft(node.pid, `table inet ${table}\ndelete table inet ${table}\n`);
}

const tableFor = (name: string): string => `cut_off_${name.replaceAll('-', '_')}`;

async function nft(pid: number, script: string): Promise<void> {
  await run('nsenter', ['-t', String(pid), '-n', ...unpacked('usr/sbin/nft'), '-f', '-'], { input: script });
}

/** Runs Debian's `ip` on the host. */
export async function ip(args: readonly string[]): Promise<string> {
  const [loader, ...rest] = unpacked('bin/ip');
  return run(loader, [...rest, ...args]);
}

/** Runs several `ip` commands at once, on the host or in the network namespace of a process. */
export async function ipBatch(lines: readonly string[], pid?: number): Promise<void> {
  const command = [...unpacked('bin/ip'), '-batch', '-'];
  const [program = '', ...args] = pid === undefined ? command : ['nsenter', '-t', String(pid), '-n', ...command];
  await run(program, args, { input: lines.join('\n') });
}
