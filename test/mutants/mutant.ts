/** A planted bug: one fragment of one source file is replaced. */
export interface Mutant {
  /** The name for `make mutants ONLY=name`. */
  readonly name: string;
  /** The bug, in one sentence. */
  readonly plants: string;
  readonly file: string;
  /** A fragment that occurs once in the file. Line breaks and indentation do not count. */
  readonly replace: string;
  readonly by: string;
  /** Why neither a unit test nor a simulation can detect the bug. */
  readonly onlyInStory?: string;
}

/** The bugs of one file, by name. */
export const inFile = (
  file: string,
  bugs: Readonly<Record<string, Omit<Mutant, 'name' | 'file'>>>,
): readonly Mutant[] => Object.entries(bugs).map(([name, bug]) => ({ name, file, ...bug }));

/** The source text with the bug. Throws unless the fragment occurs exactly once. */
export function planted(text: string, { name, file, replace, by }: Omit<Mutant, 'plants'>): string {
  const words = replace.trim().split(/\s+/);
  const fragment = new RegExp(words.map(escaped).join('\\s+'), 'g');
  const count = [...text.matchAll(fragment)].length;
  if (count !== 1)
    throw new Error(`mutant ${name} does not apply: its fragment occurs ${count} times in ${file}: ${replace}`);
  return text.replace(fragment, () => by);
}

const escaped = (word: string): string => word.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
