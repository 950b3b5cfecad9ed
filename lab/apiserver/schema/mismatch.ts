import { isFields } from '../json.ts';
import { resolved, type Schema, schemaOfField, schemaOfItems } from './schema.ts';

/** The first value of the wrong type, in the words of Go's decoder. */
export function mismatchOf(value: unknown, schema: Schema, path = ''): string | undefined {
  const shape = resolved(schema);
  if (value === undefined || value === null) return undefined;
  if (!fits(value, shape))
    return `json: cannot unmarshal ${typeNameOf(value)} into Go struct field ${path} of type ${goType(shape)}`;
  if (Array.isArray(value)) return firstOf(value.map((item) => mismatchOf(item, schemaOfItems(shape), path)));
  if (!isFields(value)) return badTime(value, shape) ?? badBytes(value, shape);
  return firstOf(
    Object.entries(value).map(([field, content]) =>
      mismatchOf(content, schemaOfField(shape, field) ?? {}, path === '' ? field : `${path}.${field}`),
    ),
  );
}

const firstOf = (found: readonly (string | undefined)[]): string | undefined => found.find((one) => one !== undefined);

function fits(value: unknown, { type = '' }: Schema): boolean {
  switch (type) {
    case 'string':
    case 'boolean':
      return typeof value === type;
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return typeof value === 'number';
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isFields(value);
    default:
      return true;
  }
}

const typeNameOf = (value: unknown): string => {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return `number${Number.isInteger(value) ? '' : ` ${value}`}`;
  return typeof value === 'boolean' ? 'bool' : typeof value;
};

const goTypes: Readonly<Record<string, string>> = {
  integer: 'int32',
  number: 'float64',
  boolean: 'bool',
  array: 'slice',
  object: 'map',
};
const goType = ({ type = '' }: Schema): string => goTypes[type] ?? type;

function badTime(value: unknown, { format }: Schema): string | undefined {
  if (format !== 'date-time' || typeof value !== 'string' || !Number.isNaN(Date.parse(value))) return undefined;
  return `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(value)} as "2006"`;
}

/** Bytes are base64 with padding. */
function badBytes(value: unknown, { format }: Schema): string | undefined {
  if (format !== 'byte' || typeof value !== 'string') return undefined;
  const text = value.replaceAll(/[\r\n]/g, '');
  const position = illegalAt(text);
  return position === undefined ? undefined : `illegal base64 data at input byte ${position}`;
}

/** The position at which Go's decoder fails: at an illegal character, or at the start of an incomplete quantum. */
function illegalAt(text: string): number | undefined {
  const letters = text.search(/[^A-Za-z0-9+/]|$/);
  const inQuantum = letters % 4;
  if (letters === text.length) return inQuantum === 0 ? undefined : letters - inQuantum;
  return inQuantum < 2 ? letters : illegalPadding(text, letters, 4 - inQuantum);
}

function illegalPadding(text: string, from: number, missing: number): number | undefined {
  const end = from + missing;
  const padding = text.slice(from, end);
  if (padding !== '='.repeat(missing)) return padding === '=' ? text.length : from;
  return end < text.length ? end : undefined;
}
