import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A planted bug: one fragment of one source file is replaced. */
export interface Mutant {
  /** The name for `make mutants ONLY=name`. */
  readonly name: string;
  /** The bug, in one sentence. */
  readonly plants: string;
  /** The source file, or the folder in which one file has the fragment. */
  readonly file: string;
  /** A fragment that occurs once. Line breaks and indentation do not count. */
  readonly replace: string;
  readonly by: string;
  /** Why neither a unit test nor a simulation can detect the bug. */
  readonly onlyInStory?: string;
}

/** The bugs of one file or folder, by name. */
export const inFile = (
  file: string,
  bugs: Readonly<Record<string, Omit<Mutant, 'name' | 'file'>>>,
): readonly Mutant[] => Object.entries(bugs).map(([name, bug]) => ({ name, file, ...bug }));

/** The mutant with the file that has its fragment. Throws unless there is one. */
export function located(mutant: Mutant, root: string): Mutant {
  const files = mutant.file.endsWith('.ts') ? [mutant.file] : globSync(`${mutant.file}/**/*.ts`, { cwd: root });
  const sources = files.filter((file) => !file.endsWith('.test.ts'));
  const found = sources.filter((file) => fragmentOf(mutant).test(readFileSync(join(root, file), 'utf8')));
  const [file] = found;
  if (file !== undefined && found.length === 1) return { ...mutant, file };
  throw new Error(
    `mutant ${mutant.name}: its fragment is in ${found.length} files of ${mutant.file}: ${mutant.replace}`,
  );
}

const fragmentOf = ({ replace }: Pick<Mutant, 'replace'>): RegExp =>
  new RegExp(replace.trim().split(/\s+/).map(escaped).join('\\s+'), 'g');

/** The source text with the bug. Throws unless the fragment occurs exactly once. */
export function planted(text: string, mutant: Omit<Mutant, 'plants'>): string {
  const { name, file, replace, by } = mutant;
  const fragment = fragmentOf(mutant);
  const count = [...text.matchAll(fragment)].length;
  if (count !== 1)
    throw new Error(`mutant ${name} does not apply: its fragment occurs ${count} times in ${file}: ${replace}`);
  return text.replace(fragment, () => by);
}

const escaped = (word: string): string => word.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
