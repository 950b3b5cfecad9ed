/** The field that replaces the content of an oversized spec. */
export const oversizedField = 'x-oversized';

/** The largest field of an oversized object, and the size limit. */
export interface Oversize {
  readonly field: string;
  readonly mostKibibytes: number;
}

/** The marker in an object with an oversized spec, if there is one. */
export function oversizeOf(object: unknown): Oversize | undefined {
  const spec = fieldOf(object, 'spec');
  const marker = fieldOf(spec, oversizedField);
  return isMarker(marker) ? marker : undefined;
}

const fieldOf = (value: unknown, field: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined;

const isMarker = (marker: unknown): marker is Oversize =>
  typeof fieldOf(marker, 'field') === 'string' && typeof fieldOf(marker, 'mostKibibytes') === 'number';
