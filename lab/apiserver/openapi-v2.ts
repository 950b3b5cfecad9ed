import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

const binary = 'application/com.github.proto-openapi.spec.v2';
const info = { title: 'Kubernetes', version: 'v1.36.4' } as const;

/** The body and media type of a response. */
interface MediaBody {
  readonly media: string;
  readonly body: string | Uint8Array;
}

/**
 * The OpenAPI v2 document, without any schema. kubectl requests it before it sends the items of a List, and leaves
 * unknown schemas to the server. Everything else uses v3.
 */
export function openapiV2(accept = ''): MediaBody {
  if (accept.includes(binary)) return { media: `${binary}.v1.0+protobuf`, body: encodeProtobuf() };
  return { media: 'application/json', body: JSON.stringify({ swagger: '2.0', info, paths: {} }) };
}

/** Field numbers of `openapi.v2.Document`. */
const fields = { swagger: 1, info: 2, title: 1, version: 2, paths: 8 } as const;

function encodeProtobuf(): Uint8Array {
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
