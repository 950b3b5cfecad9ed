/**
 * JSON as the API server stores it: with U+FFFD for half a surrogate pair, and texts of at most `longest` characters.
 * What the server would change on its own looks like a change of another writer afterwards.
 */
export function storable<T>(value: T, longest: number): T {
  if (typeof value === 'string') return shortened(value.toWellFormed(), longest) as T;
  if (Array.isArray(value)) return value.map((item: unknown) => storable(item, longest)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, storable(inner, longest)])) as T;
}

const shortened = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest - 1)}…`.toWellFormed();
