import type { Image, Mount } from '../image/image.ts';

/** What the script needs to set up a container's root file system. */
export interface RootPlan {
  /** An empty directory on the host that becomes the container's root. */
  readonly directory: string;
  readonly image: Pick<Image, 'mounts' | 'links'>;
  /** Volumes and the files that the kubelet writes, in any order. */
  readonly mounts: readonly Mount[];
  readonly hostname: string;
  readonly workingDir: string;
  readonly user: number;
  readonly group: number;
  readonly readOnlyRoot: boolean;
}

const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];

/** The message on file descriptor 3 when everything is set up. */
export const readyMessage = 'ready';

/** The error of `unshare` if it cannot execute the container's program. */
export const executeError = /^unshare: (failed to execute .*)$/m;

/**
 * A shell script that sets up a container's root and then executes the program in its arguments. It runs in new
 * namespaces inside the sandbox. The program gets a user namespace of its own: it runs with its UID and has no rights
 * over the network and mounts around it.
 */
export function rootScript(plan: RootPlan): string {
  const at = (path: string): string => quoted(`${plan.directory}${path}`);
  const mounts = [...plan.image.mounts, ...plan.mounts].toSorted((a, b) => depth(a.target) - depth(b.target));
  return [
    'set -e',
    'PATH=/usr/sbin:/usr/bin:/sbin:/bin',
    helpers,
    `cd ${quoted(plan.directory)}`,
    `mount --bind ${at('')} ${at('')}`,
    `mkdir -p ${['/proc', '/sys', '/dev', '/tmp', '/run', '/etc', '/usr', '/var'].map(at).join(' ')}`,
    `chmod 1777 ${at('/tmp')}`,
    `mount -t tmpfs -o mode=755 tmpfs ${at('/dev')}`,
    ...deviceLines(at),
    `mount -t proc proc ${at('/proc')} 2>/dev/null || mount --rbind /proc ${at('/proc')}`,
    `mount -t sysfs -o ro sysfs ${at('/sys')} 2>/dev/null || true`,
    ...plan.image.links.map(({ target, to }) => `link ${quoted(to)} ${at(target)}`),
    ...mounts.map(({ source, target, readOnly }) => `place ${quoted(source)} ${at(target)} ${readOnly ? 'ro' : 'rw'}`),
    `hostname ${quoted(plan.hostname)}`,
    `mkdir -p ${at(plan.workingDir)}`,
    ...(plan.readOnlyRoot ? [`readonly_mount ${at('')}`] : []),
    'unset PWD OLDPWD',
    'PATH=$CONTAINER_PATH',
    'unset CONTAINER_PATH',
    `echo ${readyMessage} >&3`,
    'exec 3>&-',
    `exec /usr/bin/unshare --user --map-user=${plan.user} --map-group=${plan.group} --root=${at('')} --wd=${quoted(plan.workingDir)} "$@"`,
    '',
  ].join('\n');
}

/**
 * A read-only remount must repeat the mount's existing restrictions. A directory with locked mounts below it, such as
 * /usr/lib under WSL, can only be bound recursively.
 */
const helpers = `
readonly_mount() {
  mount -o remount,bind,ro "$1" 2>/dev/null ||
    mount -o remount,bind,ro,nosuid,nodev "$1" 2>/dev/null ||
    mount -o remount,bind,ro,nosuid,nodev,noexec "$1" 2>/dev/null ||
    mount -o remount,bind,ro,nosuid,nodev,relatime "$1"
}
place() {
  if [ -d "$1" ]; then mkdir -p "$2"; else mkdir -p "\${2%/*}"; [ -e "$2" ] || : > "$2"; fi
  mount --bind "$1" "$2" 2>/dev/null || mount --rbind "$1" "$2"
  if [ "$3" = ro ]; then readonly_mount "$2"; fi
}
link() {
  if [ ! -e "$2" ] && [ ! -L "$2" ]; then mkdir -p "\${2%/*}"; ln -s "$1" "$2"; fi
}
`.trim();

function deviceLines(at: (path: string) => string): readonly string[] {
  return [
    ...devices.map((name) => `: > ${at(`/dev/${name}`)}; mount --bind /dev/${name} ${at(`/dev/${name}`)}`),
    `mkdir ${at('/dev/pts')} ${at('/dev/shm')}`,
    `mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts ${at('/dev/pts')}`,
    `mount -t tmpfs -o mode=1777 tmpfs ${at('/dev/shm')}`,
    `ln -s pts/ptmx ${at('/dev/ptmx')}`,
    `ln -s /proc/self/fd ${at('/dev/fd')}`,
    ...['stdin', 'stdout', 'stderr'].map((name, number) => `ln -s /proc/self/fd/${number} ${at(`/dev/${name}`)}`),
  ];
}

const depth = (path: string): number => path.split('/').length;

export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
