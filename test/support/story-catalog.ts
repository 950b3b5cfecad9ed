import type { Where } from './place.ts';

/** A story as declared in its file. */
export interface Declared {
  readonly title: string;
  readonly file: string;
  readonly where: Where;
}

const declared: Declared[] = [];
let reading: string | undefined;

/** Whether story files are imported for their titles only. */
export const isReading = (): boolean => reading !== undefined;

export function declare(title: string, where: Where): void {
  declared.push({ title, file: reading ?? '', where });
}

/** Lists all stories in these files, without running any. */
export async function storiesIn(files: readonly string[], directory: string): Promise<readonly Declared[]> {
  for (const file of files) {
    reading = file;
    await import(`${directory}/${file}`);
  }
  reading = undefined;
  return declared;
}
