import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import type { Link, Mount } from './image.ts';

const directories = ['/usr/lib', '/usr/lib64', '/usr/lib32', '/lib', '/lib64'];

/** The host's library directories, mounted at the same paths: for dynamically linked programs. */
export function hostLibraries(): { readonly mounts: readonly Mount[]; readonly links: readonly Link[] } {
  const present = directories.filter((directory) => existsSync(directory));
  const isLink = (directory: string): boolean => lstatSync(directory).isSymbolicLink();
  return {
    mounts: present
      .filter((directory) => !isLink(directory))
      .map((directory) => ({ source: directory, target: directory, readOnly: true })),
    links: present.filter(isLink).map((directory) => ({ target: directory, to: readlinkSync(directory) })),
  };
}
