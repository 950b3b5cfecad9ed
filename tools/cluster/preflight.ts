import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { unpacked } from '../debian/packages.ts';
import { UserError } from '../lib/main.ts';
import { attempt } from '../lib/run.ts';
import type { Layout } from './layout.ts';
import { namespaces } from './machine.ts';
import { ip } from './network.ts';

/** Checks privileges and cgroups, before anything is downloaded or built. */
export function assertPrivileges(): void {
  if (process.getuid?.() !== 0) {
    throw new UserError(
      'The test cluster needs root (it creates network namespaces, mounts and cgroups): run the same command in a root shell (sudo -s).',
    );
  }
  if (!existsSync('/sys/fs/cgroup/cgroup.controllers') && !existsSync('/sys/fs/cgroup/memory')) {
    throw new UserError(
      'No cgroup controllers are mounted under /sys/fs/cgroup. The kubelet needs them: mount cgroup2 there.',
    );
  }
}

interface Trial {
  readonly script: string;
  readonly message: string;
}

/** Tries each required kernel feature in temporary namespaces. The host is not changed. */
export async function assertKernel(layout: Layout): Promise<void> {
  const place = trialDirectory(layout);
  await rm(place, { recursive: true, force: true });
  await mkdir(place, { recursive: true });
  try {
    for (const trial of trials(place)) await assertWorks(trial);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** The directory of the trials. If a trial is interrupted, it is removed with the cluster. */
export const trialDirectory = (layout: Layout): string => `${layout.state}.trial`;

async function assertWorks({ script, message }: Trial): Promise<void> {
  const ended = await attempt('unshare', [...namespaces, '--', 'sh', '-ec', script]);
  if (ended.code !== 0) throw new UserError(`${message} (${ended.stderr.trim().split('\n').at(-1)})`);
}

function trials(place: string): readonly Trial[] {
  const [ipCommand, nftCommand] = ['bin/ip', 'usr/sbin/nft'].map((path) => unpacked(path).join(' '));
  const overlay = `mkdir ${place}/l ${place}/u ${place}/w ${place}/m; mount -t overlay -o lowerdir=${place}/l,upperdir=${place}/u,workdir=${place}/w overlay ${place}/m`;
  return [
    {
      script: 'true',
      message:
        'This kernel or container does not allow new namespaces: run on a real or virtual machine, or in a privileged container.',
    },
    { script: `${ipCommand} link add type veth`, message: 'The kernel has no virtual Ethernet pairs: modprobe veth.' },
    { script: `${ipCommand} link add type bridge`, message: 'The kernel has no network bridge: modprobe bridge.' },
    {
      script: `${nftCommand} add table inet trial`,
      message: 'The kernel has no nf_tables, which kube-proxy needs: modprobe nf_tables.',
    },
    {
      script: overlay,
      message: `The file system of ${place} does not support overlayfs: set XDG_CACHE_HOME to a directory on ext4 or xfs.`,
    },
  ];
}

/** Throws if the cluster's addresses are in use, other than by an earlier cluster of the same name. */
export async function assertAddressesFree(layout: Layout): Promise<void> {
  const routes = (await ip(['-4', 'route', 'show', 'table', 'all', 'root', '10.250.0.0/15'])).split('\n');
  const mine = [layout.subnet, layout.podSubnet, layout.serviceSubnet].map((subnet) =>
    subnet.split('.').slice(0, 3).join('.'),
  );
  const taken = routes.find((route) => mine.some((prefix) => route.startsWith(`${prefix}.`)));
  if (taken === undefined) return;
  throw new UserError(
    `The addresses of cluster "${layout.name}" are in use on this machine (${taken.trim()}): choose another name, as in make cluster NAME=another.`,
  );
}
