import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { debianRoot, libraryDirectories, loaderPath } from '../debian/packages.ts';
import { copyInto } from './oci-image.ts';

/** Copies shared libraries and the dynamic loader to their paths in an image. */
export async function copyLibraries(tree: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const found = libraryDirectories()
      .map((directory) => join(directory, name))
      .find((path) => existsSync(path));
    if (found === undefined) throw new Error(`${name} is not among the unpacked Debian packages`);
    await copyInto(found, join(tree, found.slice(debianRoot().length)));
  }
  await copyInto(join(debianRoot(), loaderPath.resolved), join(tree, loaderPath.asked));
}
