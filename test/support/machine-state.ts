import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { unpacked } from '../../tools/debian/packages.ts';
import { cacheDirectory } from '../../tools/lib/cache.ts';
import { attempt } from '../../tools/lib/run.ts';

/** Everything that a test cluster could leave behind or change on this machine. */
export interface MachineState {
  readonly processes: readonly string[];
  readonly mounts: readonly string[];
  readonly links: readonly string[];
  readonly routes: readonly string[];
  readonly rules: readonly string[];
  readonly cgroups: readonly string[];
  readonly files: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
}

/** Programs that only a test cluster runs on this machine. */
const clusterPrograms =
  /\/(?:kube[a-z-]*|containerd[a-z0-9-]*|coredns|registry|local-path-provisioner|etcd|tini|unshare)\0/;

/** The current traces of the clusters called `names`, and the kernel settings. */
export async function machineState(...names: readonly string[]): Promise<MachineState> {
  const mine = (text: string): boolean =>
    names.some((name) => text.includes(`clusters/${name}`) || text.includes(`eo-${name}`));
  return {
    processes: commandLines().filter((line) => mine(line) && clusterPrograms.test(line)),
    mounts: readFileSync('/proc/self/mountinfo', 'utf8').split('\n').filter(mine),
    links: readdirSync('/sys/class/net').filter(mine),
    routes: (await outputOf('bin/ip', ['route', 'show', 'table', 'all'])).filter(mine),
    rules: await outputOf('usr/sbin/nft', ['list', 'ruleset']),
    cgroups: globSync('/sys/fs/cgroup/{*,*/*}').filter(mine),
    files: [
      '/run/netns',
      '/var/lib/cni',
      '/etc/cni',
      '/var/lib/kubelet',
      '/run/containerd',
      ...names.flatMap((name) => ['', '.trial'].map((part) => `${cacheDirectory()}/clusters/${name}${part}`)),
    ].filter((path) => existsSync(path)),
    settings: Object.fromEntries(
      kernelSettings.map((name) => [name, readFileSync(`/proc/sys/${name}`, 'utf8').trim()]),
    ),
  };
}

/** Kernel settings that components of Kubernetes change if they are allowed to. */
const kernelSettings = [
  ...['vm/overcommit_memory', 'vm/panic_on_oom', 'kernel/panic', 'kernel/panic_on_oops', 'kernel/keys/root_maxkeys'],
  ...[
    'kernel/keys/root_maxbytes',
    'net/ipv4/ip_forward',
    'net/ipv4/conf/all/route_localnet',
    'fs/inotify/max_user_instances',
  ],
];

const commandLines = (): readonly string[] =>
  readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    });

async function outputOf(program: string, args: readonly string[]): Promise<readonly string[]> {
  const [loader, ...rest] = unpacked(program);
  const { stdout } = await attempt(loader, [...rest, ...args]);
  return stdout.split('\n').filter((line) => line !== '');
}
