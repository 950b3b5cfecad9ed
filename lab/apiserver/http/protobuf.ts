import type { WireType } from '@bufbuild/protobuf/wire';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import messages from '../gen/messages.json' with { type: 'json' };
import type { Fields } from '../json.ts';
import { timeOf } from '../object.ts';
import { builtinSchemas, schemaOfKind } from '../schema/schema.ts';
import { badRequest } from '../status-error.ts';

/**
 * Decodes the protobuf form in which some kubectl commands send built-in kinds. Responses are always JSON. Field
 * numbers are in a data file; types with a special JSON form are listed here.
 */
type Field = readonly [name: string, type: string, many?: string];
const known = messages as unknown as Readonly<Record<string, Readonly<Record<string, Field>>>>;

const magic = Buffer.from('k8s\0');
const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';

export const isProtobuf = (body: Buffer): boolean => body.subarray(0, magic.length).equals(magic);

/** Decodes the object of a protobuf body. */
export function fromProtobuf(body: Buffer): Fields {
  const { kind, apiVersion, raw } = envelope(body.subarray(magic.length));
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const name =
    schemaOfKind(group, version, kind).$ref ?? (kind === 'DeleteOptions' ? `${meta}.DeleteOptions` : undefined);
  if (name === undefined || known[name] === undefined)
    throw badRequest(`no kind "${kind}" is registered for version "${apiVersion}"`);
  return { apiVersion, kind, ...messageOf(raw, name) };
}

function envelope(bytes: Uint8Array): { kind: string; apiVersion: string; raw: Uint8Array } {
  const found: { kind: string; apiVersion: string; raw: Uint8Array } = {
    kind: '',
    apiVersion: '',
    raw: Buffer.alloc(0),
  };
  each(bytes, (reader, number) => {
    if (number === 2) found.raw = reader.bytes();
    else if (number === 1)
      each(reader.bytes(), (inner, part) => {
        const text = inner.string();
        if (part === 1) found.apiVersion = text;
        else found.kind = text;
        return true;
      });
    else return false;
    return true;
  });
  return found;
}

/** Calls `handle` for every field; skips the fields that it does not handle. */
function each(bytes: Uint8Array, handle: (reader: BinaryReader, number: number, wire: WireType) => boolean): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (!handle(reader, number, wire)) reader.skip(wire, number);
  }
}

function messageOf(bytes: Uint8Array, name: string): Fields {
  const fields = known[name] ?? {};
  const message: Fields = {};
  each(bytes, (reader, number) => {
    const field = fields[number];
    if (field === undefined) return false;
    addField(message, field, { reader, parent: name });
    return true;
  });
  return message;
}

interface FieldReader {
  readonly reader: BinaryReader;
  /** The message that contains the field. */
  readonly parent: string;
}

function addField(message: Fields, [name, type, many]: Field, { reader, parent }: FieldReader): void {
  if (many === 'map') {
    const [key, value] = entryOf(reader.bytes(), type);
    message[name] = { ...(message[name] as Fields | undefined), [key]: value };
    return;
  }
  const value = valueOf(reader, type);
  if (many === 'list') message[name] = [...((message[name] as unknown[] | undefined) ?? []), value];
  else if (isInline(parent, name) && typeof value === 'object') Object.assign(message, value);
  else if (value !== undefined && value !== '') message[name] = value; // an empty string is unset
}

/** True if JSON inlines the field into the message around it. */
const isInline = (parent: string, name: string): boolean => {
  const properties = builtinSchemas[parent]?.properties;
  return properties !== undefined && properties[name] === undefined;
};

function entryOf(bytes: Uint8Array, type: string): readonly [string, unknown] {
  let key = '';
  let value: unknown = scalarZero[type] ?? {};
  each(bytes, (reader, number) => {
    if (number === 1) key = reader.string();
    else value = valueOf(reader, type);
    return true;
  });
  return [key, value];
}

const scalarZero: Readonly<Record<string, unknown>> = { string: '', bytes: '', bool: false, int32: 0, int64: 0 };

const scalars: Readonly<Record<string, (reader: BinaryReader) => unknown>> = {
  string: (reader) => reader.string(),
  bool: (reader) => reader.bool(),
  int32: (reader) => reader.int32(),
  int64: (reader) => Number(reader.int64()),
  uint32: (reader) => reader.uint32(),
  uint64: (reader) => Number(reader.uint64()),
  double: (reader) => reader.double(),
  bytes: (reader) => Buffer.from(reader.bytes()).toString('base64'),
};

/** Messages with a simpler JSON form. */
const jsonForms: Readonly<Record<string, (message: Fields) => unknown>> = {
  [`${meta}.Time`]: ({ seconds }) => (seconds === undefined ? undefined : timeOf(new Date(Number(seconds) * 1000))),
  [`${meta}.MicroTime`]: ({ seconds, nanos }) => microTime(Number(seconds ?? 0), Number(nanos ?? 0)),
  [`${meta}.FieldsV1`]: ({ Raw }) => JSON.parse(Buffer.from(String(Raw), 'base64').toString() || '{}'),
  'io.k8s.apimachinery.pkg.runtime.RawExtension': ({ raw }) =>
    JSON.parse(Buffer.from(String(raw), 'base64').toString() || 'null'),
  'io.k8s.apimachinery.pkg.api.resource.Quantity': (message) => message['string'] ?? '0',
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': ({ type, intVal, strVal }) =>
    type === 1 ? (strVal ?? '') : (intVal ?? 0),
};

const microTime = (seconds: number, nanos: number): string =>
  timeOf(new Date(seconds * 1000)).replace('Z', `.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z`);

function valueOf(reader: BinaryReader, type: string): unknown {
  const scalar = scalars[type];
  if (scalar !== undefined) return scalar(reader);
  const message = messageOf(reader.bytes(), type);
  return type in jsonForms ? jsonForms[type]?.(message) : message;
}
