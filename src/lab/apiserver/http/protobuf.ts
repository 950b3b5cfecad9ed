import type { WireType } from '@bufbuild/protobuf/wire';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import messages from '../gen/messages.json' with { type: 'json' };
import type { Fields } from '../json.ts';
import { timeOf } from '../object.ts';
import { badRequest } from '../refusal.ts';
import { definitions, schemaOfKind } from '../schema/schema.ts';

/**
 * Some commands of kubectl send built-in kinds in the binary form of Kubernetes. Answers are JSON, which they take too.
 * Field numbers are data; the few types that JSON writes in another way are listed here.
 */
type Field = readonly [name: string, type: string, many?: string];
const known = messages as unknown as Readonly<Record<string, Readonly<Record<string, Field>>>>;

const magic = Buffer.from('k8s\0');
const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';

export const isProtobuf = (body: Buffer): boolean => body.subarray(0, magic.length).equals(magic);

/** The object in a body, as JSON would say it. */
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

/** Calls `taking` for every field; what it does not take is skipped. */
function each(bytes: Uint8Array, taking: (reader: BinaryReader, number: number, wire: WireType) => boolean): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (!taking(reader, number, wire)) reader.skip(wire, number);
  }
}

function messageOf(bytes: Uint8Array, name: string): Fields {
  const fields = known[name] ?? {};
  const message: Fields = {};
  each(bytes, (reader, number) => {
    const field = fields[number];
    if (field === undefined) return false;
    take(message, field, { reader, within: name });
    return true;
  });
  return message;
}

interface Reading {
  readonly reader: BinaryReader;
  /** The message that the field is in. */
  readonly within: string;
}

function take(message: Fields, [name, type, many]: Field, { reader, within }: Reading): void {
  if (many === 'map') {
    const [key, value] = entryOf(reader.bytes(), type);
    message[name] = { ...(message[name] as Fields | undefined), [key]: value };
    return;
  }
  const value = valueOf(reader, type);
  if (many === 'list') message[name] = [...((message[name] as unknown[] | undefined) ?? []), value];
  else if (isInline(within, name) && typeof value === 'object') Object.assign(message, value);
  else if (value !== undefined && value !== '') message[name] = value; // text that is empty was never set
}

/** JSON knows no field of that name: what is in it is a part of the message around it. */
const isInline = (within: string, name: string): boolean => {
  const properties = definitions[within]?.properties;
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

/** Types that are messages on the wire, and something simpler in JSON. */
const simpler: Readonly<Record<string, (message: Fields) => unknown>> = {
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
  return type in simpler ? simpler[type]?.(message) : message;
}
