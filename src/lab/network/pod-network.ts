import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Ground } from '../ground/ground.ts';
import { layout } from './addresses.ts';

const run = promisify(execFile);

const up = `
set -e
PATH=$PATH:/usr/sbin:/sbin
file=$1 cable=$2 address=$3 gateway=$4
: > "$file"
unshare --net="$file" sh -c 'ip link set lo up; echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start; echo 0 2147483647 > /proc/sys/net/ipv4/ping_group_range' 2> /dev/null || true
ip link add "$cable" type veth peer name eth0 netns "$file"
ip link set "$cable" master lab0 up
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

/** A pod's own network: a namespace with one interface, joined by a virtual cable to the bridge of the ground. */
export interface PodNetwork {
  readonly address: string;
  /** The file that stands for the namespace, for those inside the ground. */
  readonly file: string;
  readonly cable: string;
}

export class PodNetworks {
  readonly #ground: Ground;
  readonly #directory: string;
  #made = 0;

  constructor(ground: Ground, directory: string) {
    this.#ground = ground;
    this.#directory = directory;
  }

  async make(address: string): Promise<PodNetwork> {
    await mkdir(this.#directory, { recursive: true });
    const cable = `pod${++this.#made}`;
    const file = join(this.#directory, cable);
    await this.#script(up, [file, cable, address, layout.gateway]);
    return { address, file, cable };
  }

  async remove({ file, cable }: PodNetwork): Promise<void> {
    await this.#script(down, [file, cable]);
    await rm(file, { force: true });
  }

  async #script(text: string, args: readonly string[]): Promise<void> {
    const [program, ...words] = this.#ground.inside(['/bin/sh', '-c', text, 'network', ...args]);
    await run(program, words);
  }
}
