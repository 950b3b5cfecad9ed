import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Files by their path below a machine's directory. */
export type Files = Readonly<Record<string, string>>;

export async function writeFiles(directory: string, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const target = join(directory, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content, { mode: 0o600 });
  }
  for (const open of ['', 'etc', 'var', 'root']) {
    await mkdir(join(directory, open), { recursive: true });
    await chmod(join(directory, open), 0o755);
  }
}
