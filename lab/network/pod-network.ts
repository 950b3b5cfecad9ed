import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { layout } from './addresses.ts';

const run = promisify(execFile);

const up = `
set -e
PATH=$PATH:/usr/sbin:/sbin
file=$1 veth=$2 address=$3 gateway=$4
: > "$file"
unshare --net="$file" sh -c 'ip link set lo up; echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start; echo 0 2147483647 > /proc/sys/net/ipv4/ping_group_range' 2> /dev/null || true
ip link add "$veth" type veth peer name eth0 netns "$file"
ip link set "$veth" master lab0 up
nsenter --net="$file" ip -batch - << END
address add $address/16 dev eth0
link set eth0 up
route add default via $gateway
END
`;

const down = `
PATH=$PATH:/usr/sbin:/sbin
ip link delete "$2" 2> /dev/null
umount -l "$1" 2> /dev/null
rm -f "$1"
`;

/** A pod's network namespace, attached to the sandbox's bridge by a veth pair. */
export interface PodNetwork {
  readonly address: string;
  /** The file that the network namespace is bound to; it exists in the sandbox only. */
  readonly file: string;
  readonly veth: string;
}

export class PodNetworks {
  readonly #sandbox: Sandbox;
  readonly #directory: string;
  #made = 0;

  constructor(sandbox: Sandbox, directory: string) {
    this.#sandbox = sandbox;
    this.#directory = directory;
  }

  async make(address: string): Promise<PodNetwork> {
    await mkdir(this.#directory, { recursive: true });
    const veth = `pod${++this.#made}`;
    const file = join(this.#directory, veth);
    await this.#script(up, [file, veth, address, layout.gateway]);
    return { address, file, veth };
  }

  async remove({ file, veth }: PodNetwork): Promise<void> {
    await this.#script(down, [file, veth]);
    await rm(file, { force: true });
  }

  async #script(text: string, parameters: readonly string[]): Promise<void> {
    const [program, ...args] = this.#sandbox.commandInside(['/bin/sh', '-c', text, 'network', ...parameters]);
    await run(program, args);
  }
}
