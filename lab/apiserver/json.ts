/** A JSON object of unknown shape: the server handles all kinds alike. */
export type Fields = Record<string, unknown>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value as an object; an empty object if it is none. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

/** The value as a list, a list of objects, a text or a number; an empty one or 0 if it is of another type. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const fieldsIn = (value: unknown): readonly Fields[] => listOf(value).filter(isFields);
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** The value at a path of field names. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let inner = value;
  for (const field of path) inner = fieldsOf(inner)[field];
  return inner;
}

/** Sets the value at a path, and creates the objects on the way. `undefined` deletes the field. */
export function put(value: Fields, path: readonly string[], content: unknown): void {
  const [first, ...rest] = path;
  if (first === undefined) return;
  if (rest.length === 0) {
    if (content === undefined) delete value[first];
    else value[first] = content;
    return;
  }
  if (!isFields(value[first])) value[first] = {};
  put(value[first] as Fields, rest, content);
}

/** Sets fields that are absent. */
export function fill(value: Fields, defaults: Fields): void {
  for (const [field, content] of Object.entries(defaults)) value[field] ??= content;
}

export const copy = <T>(value: T): T => structuredClone(value);

/** True if two JSON values are equal. The order of fields does not count. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => same(item, b[index]));
  if (!isFields(a) || !isFields(b)) return false;
  const fields = Object.keys(a);
  return (
    fields.length === Object.keys(b).length &&
    fields.every((field) => Object.hasOwn(b, field) && same(a[field], b[field]))
  );
}
