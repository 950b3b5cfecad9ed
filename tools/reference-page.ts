import type { StructuralSchema } from '../src/apis/common/schema/structural-schema.ts';

/** Sections of a reference page, generated from a schema. */

interface Field {
  readonly path: string;
  readonly schema: StructuralSchema;
}

export function fieldTable(schema: StructuralSchema, part: 'spec' | 'status'): string {
  const rows = fieldsBelow(part, schema.properties?.[part] ?? {}).map(({ path, schema: field }) => [
    `\`${path}\``,
    typeName(field),
    typeof field.default === 'string' ? `\`${field.default}\`` : '',
    field.description ?? '',
  ]);
  const withDefaults = part === 'spec';
  const columns = ['field', 'type', 'default', 'meaning'];
  const chosen = (row: readonly string[]): readonly string[] => row.filter((_, index) => withDefaults || index !== 2);
  return tableOf(chosen(columns), rows.map(chosen));
}

/** The fields with descriptions. Of a subtree from Kubernetes, only the root is listed. */
function fieldsBelow(path: string, schema: StructuralSchema): readonly Field[] {
  const properties = Object.entries(schema.properties ?? schema.items?.properties ?? {});
  if (!properties.every(([, { description }]) => description !== undefined)) return [];
  const prefix = schema.items === undefined ? path : `${path}[]`;
  return properties.flatMap(([name, inner]) => {
    const field = { path: `${prefix}.${name}`, schema: inner };
    return [field].concat(fieldsBelow(field.path, inner));
  });
}

function typeName({ type, items, additionalProperties, ...rest }: StructuralSchema): string {
  if (items !== undefined) return `list of ${typeName(items)}`;
  if (additionalProperties !== undefined) return `map of ${typeName(additionalProperties)}`;
  return rest['x-kubernetes-int-or-string'] === true ? 'quantity' : (type ?? '');
}

export function refusalTable(schema: StructuralSchema): string {
  const rows = refusalsBelow('', schema).filter(([path]) => !path?.includes('status'));
  return tableOf(['field', 'message'], rows);
}

type Row = readonly string[];

function refusalsBelow(path: string, schema: StructuralSchema): readonly Row[] {
  const rules = (schema['x-kubernetes-validations'] ?? []) as readonly { readonly message: string }[];
  const inner = Object.entries(schema.properties ?? {}).map(
    ([name, node]) => [path ? `${path}.${name}` : name, node] as const,
  );
  const items = schema.items ? [[`${path}[]`, schema.items] as const] : [];
  const values = schema.additionalProperties ? [[`${path}[*]`, schema.additionalProperties] as const] : [];
  return [
    ...rules.map(({ message }) => [`\`${path || 'metadata.name'}\``, message]),
    ...[...inner, ...items, ...values].flatMap(([where, node]) => refusalsBelow(where, node)),
  ];
}

const tableOf = (columns: Row, rows: readonly Row[]): string =>
  [columns, columns.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');

const cell = (content: string): string => content.replaceAll('|', '\\|').replaceAll('<', '&lt;');
