import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

const binary = 'application/com.github.proto-openapi.spec.v2';
const info = { title: 'Kubernetes', version: 'v1.36.4' } as const;

/** A document as it is sent. */
interface Sent {
  readonly media: string;
  readonly body: string | Uint8Array;
}

/**
 * The older, single document of shapes, without any. kubectl wants to see it before it sends the items of a List, and leaves those
 * whose shapes are not in it to the server; for all else it reads the newer ones.
 */
export function openapiV2(accept = ''): Sent {
  if (accept.includes(binary)) return { media: `${binary}.v1.0+protobuf`, body: inBinary() };
  return { media: 'application/json', body: JSON.stringify({ swagger: '2.0', info, paths: {} }) };
}

/** By the field numbers of `openapi.v2.Document`. */
const fields = { swagger: 1, info: 2, title: 1, version: 2, paths: 8 } as const;

function inBinary(): Uint8Array {
  const writer = new BinaryWriter();
  const text = (field: number, value: string): BinaryWriter =>
    writer.tag(field, WireType.LengthDelimited).string(value);
  text(fields.swagger, '2.0');
  writer.tag(fields.info, WireType.LengthDelimited).fork();
  text(fields.title, info.title);
  text(fields.version, info.version);
  writer.join();
  writer.tag(fields.paths, WireType.LengthDelimited).fork().join();
  return writer.finish();
}
