import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { etcdClusterCrd, etcdClusterSchema } from '../src/dialects/coreos-v1beta2/crd.ts';
import type { StructuralSchema } from '../src/dialects/structural-schema.ts';

const root = join(import.meta.dirname, '..');

/** Every file that is made from the schemas, with what it must hold. */
export const generated = (): Readonly<Record<string, string>> => ({
  'examples/coreos/etcd-operator-crd.yaml': crdFile(),
  'docs/reference/coreos-etcdcluster.md': referencePage(),
});

const crdFile = (): string =>
  '# Generated from src/dialects/coreos-v1beta2 by tools/generate-crds.ts.\n' +
  stringify(etcdClusterCrd(), { lineWidth: 0, aliasDuplicateObjects: false });

const referencePage = (): string => `# EtcdCluster of etcd.database.coreos.com/v1beta2

<!-- Generated from src/dialects/coreos-v1beta2 by tools/generate-crds.ts. -->

Only \`spec.size\` must be set. Short names: \`etcd\`, \`etcdclus\`. \`kubectl scale\` sets \`spec.size\`.
The definition needs Kubernetes 1.30 or newer.

- **Names** have up to 52 small letters, digits and dashes, and begin with a letter: the services \`<name>\` and
  \`<name>-client\` and the members \`<name>-xxxxxxxxxx\` are named after them. (Kubernetes before 1.36 wants a letter first.)
- **Versions** are released ones, three numbers: no ranges, no \`latest\`, no \`-rc.0\`, no suffix. Whether etcd can get
  from the version it runs to the one you write is said by a condition, not here.
- **\`null\`** means that the field is left out.
- **Fields that are not listed** are refused by \`kubectl\`, and dropped where a client does not ask for strict checking.
  So a cluster cannot reach into another namespace, run on the host's network or bring containers of its own.

## Spec

${fieldTable('spec')}

## Status

${fieldTable('status')}

## What is refused, and what it says

An object that got past the API server (stored before this definition was installed) is held to the same rules by the
operator, and to one more: no cluster is named \`kubernetes\` in the namespace \`default\`, where that is the Service of the API.

${refusalTable()}
`;

interface Field {
  readonly path: string;
  readonly schema: StructuralSchema;
}

function fieldTable(part: 'spec' | 'status'): string {
  const rows = fieldsBelow(part, etcdClusterSchema().properties?.[part] ?? {}).map(({ path, schema }) => [
    `\`${path}\``,
    typeName(schema),
    typeof schema.default === 'string' ? `\`${schema.default}\`` : '',
    schema.description ?? '',
  ]);
  const withDefaults = part === 'spec';
  const columns = ['field', 'type', 'default', 'meaning'];
  const chosen = (row: readonly string[]): readonly string[] => row.filter((_, index) => withDefaults || index !== 2);
  return tableOf(chosen(columns), rows.map(chosen));
}

/** The fields we describe; where a subtree is Kubernetes' own, its root is all that is listed. */
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

function refusalTable(): string {
  const rows = refusalsBelow('', etcdClusterSchema()).filter(([path]) => !path?.includes('status'));
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

if (import.meta.main) {
  for (const [file, content] of Object.entries(generated())) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), content);
  }
}
