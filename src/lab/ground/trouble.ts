import { readFileSync } from 'node:fs';

/** A setting by which a system keeps ordinary users from making namespaces. */
interface Switch {
  readonly name: string;
  readonly isOff: (value: number) => boolean;
  readonly remedy: number;
}

const switches: readonly Switch[] = [
  { name: 'kernel.unprivileged_userns_clone', isOff: (value) => value === 0, remedy: 1 },
  { name: 'kernel.apparmor_restrict_unprivileged_userns', isOff: (value) => value === 1, remedy: 0 },
  { name: 'user.max_user_namespaces', isOff: (value) => value < 8, remedy: 10_000 },
  { name: 'user.max_net_namespaces', isOff: (value) => value < 8, remedy: 10_000 },
];

export type ReadSetting = (name: string) => number | undefined;

const fromProc: ReadSetting = (name) => {
  try {
    return Number(readFileSync(`/proc/sys/${name.replaceAll('.', '/')}`, 'utf8'));
  } catch {
    return undefined; // this kernel has no such setting
  }
};

/** Says why the lab's namespaces could not be made, and which setting to change. */
export function whyNoNamespaces(said: string, read: ReadSetting = fromProc): string {
  const culprits = switches.filter(({ name, isOff }) => {
    const value = read(name);
    return value !== undefined && isOff(value);
  });
  const complaint = `the lab could not make namespaces for its pods: ${said.trim() || 'no reason was given'}`;
  if (culprits.length === 0)
    return `${complaint}\nIs this a container? The lab needs user namespaces, which its seccomp profile may forbid.`;
  const remedies = culprits.map(({ name, remedy }) => `  sudo sysctl -w ${name}=${remedy}`);
  return `${complaint}\nThis system keeps ordinary users from making them. To change that, until the next boot:\n${remedies.join('\n')}`;
}
