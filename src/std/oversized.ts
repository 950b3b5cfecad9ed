/** What stands in place of a spec that was too large to be kept. */
export const oversizedField = 'x-oversized';

/** Where the bulk of an object was, and how large an object may be. */
export interface Oversize {
  readonly field: string;
  readonly mostKibibytes: number;
}

/** The note that was left in an object whose spec was too large to be kept. */
export function oversizeOf(object: unknown): Oversize | undefined {
  const spec = fieldOf(object, 'spec');
  const note = fieldOf(spec, oversizedField);
  return isNote(note) ? note : undefined;
}

const fieldOf = (value: unknown, field: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined;

const isNote = (note: unknown): note is Oversize =>
  typeof fieldOf(note, 'field') === 'string' && typeof fieldOf(note, 'mostKibibytes') === 'number';
