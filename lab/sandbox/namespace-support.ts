import { readFileSync } from 'node:fs';

/** A sysctl that can forbid namespaces to ordinary users. */
interface Sysctl {
  readonly name: string;
  readonly forbids: (value: number) => boolean;
  readonly remedy: number;
}

const sysctls: readonly Sysctl[] = [
  { name: 'kernel.unprivileged_userns_clone', forbids: (value) => value === 0, remedy: 1 },
  { name: 'kernel.apparmor_restrict_unprivileged_userns', forbids: (value) => value === 1, remedy: 0 },
  { name: 'user.max_user_namespaces', forbids: (value) => value < 8, remedy: 10_000 },
  { name: 'user.max_net_namespaces', forbids: (value) => value < 8, remedy: 10_000 },
];

export type ReadSetting = (name: string) => number | undefined;

const fromProc: ReadSetting = (name) => {
  try {
    return Number(readFileSync(`/proc/sys/${name.replaceAll('.', '/')}`, 'utf8'));
  } catch {
    return undefined; // this kernel has no such setting
  }
};

/** Explains why the sandbox could not be created, and which sysctl to change. */
export function explainNoNamespaces(stderr: string, read: ReadSetting = fromProc): string {
  const culprits = sysctls.filter(({ name, forbids }) => {
    const value = read(name);
    return value !== undefined && forbids(value);
  });
  const problem = `cannot create namespaces for the lab's pods: ${stderr.trim() || 'unshare printed no reason'}`;
  if (culprits.length === 0)
    return `${problem}\nThe lab needs user namespaces. If this is a container, its seccomp profile may forbid them.`;
  const remedies = culprits.map(({ name, remedy }) => `  sudo sysctl -w ${name}=${remedy}`);
  return `${problem}\nThis system forbids user namespaces to ordinary users. To allow them until the next boot:\n${remedies.join('\n')}`;
}
