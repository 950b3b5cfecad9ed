import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Mutant, planted } from '../../test/mutants/mutant.ts';
import { run } from '../lib/run.ts';

const root = join(import.meta.dirname, '../..');

/** A copy of the working tree in a temporary directory, for one bug at a time. */
export class Copy implements AsyncDisposable {
  readonly directory: string;
  /** The texts without a bug. */
  readonly #sound = new Map<string, string>();

  private constructor(directory: string) {
    this.directory = directory;
  }

  static async make(): Promise<Copy> {
    const directory = await mkdtemp(join(tmpdir(), 'mutants-'));
    const listed = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
    for (const file of listed.split('\0').filter(Boolean)) {
      await mkdir(join(directory, dirname(file)), { recursive: true });
      await cp(join(root, file), join(directory, file)).catch(ignoreMissing);
    }
    await linkPackages(join(directory, 'node_modules'));
    // Some tests list the files that git tracks.
    await run('git', ['init', '--quiet'], { cwd: directory });
    await run('git', ['add', '--all'], { cwd: directory });
    return new Copy(directory);
  }

  async plant(mutant: Mutant): Promise<void> {
    const file = join(this.directory, mutant.file);
    const text = await readFile(file, 'utf8');
    const changed = planted(text, mutant);
    if (!this.#sound.has(file)) this.#sound.set(file, text);
    await writeFile(file, changed);
  }

  /** Removes all planted bugs. */
  async restore(): Promise<void> {
    for (const [file, text] of this.#sound) await writeFile(file, text);
    this.#sound.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** A file that was deleted and is still tracked. */
function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** Links every package by itself: the caches in node_modules are not shared. */
async function linkPackages(to: string): Promise<void> {
  await mkdir(to);
  const names = await readdir(join(root, 'node_modules'));
  const packages = names.filter((name) => name === '.bin' || !name.startsWith('.'));
  await Promise.all(packages.map((name) => symlink(join(root, 'node_modules', name), join(to, name))));
}
