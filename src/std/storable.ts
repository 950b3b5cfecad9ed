/**
 * JSON as the API server stores it: without undefined fields, with U+FFFD for half a surrogate pair, and with texts of at
 * most `longest` characters. What the server would change on its own looks like a change of another writer afterwards.
 */
export function storable<T>(value: T, longest: number): T {
  if (typeof value === 'string') return shortened(value.toWellFormed(), longest) as T;
  if (Array.isArray(value)) return value.map((item: unknown) => storable(item, longest)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(fields.map(([key, inner]) => [key, storable(inner, longest)])) as T;
}

const shortened = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest - 1)}…`.toWellFormed();
