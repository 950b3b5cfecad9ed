import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromKubeconfig } from '../src/kube/config.ts';
import { type Connection, connectTo } from '../src/kube/connection.ts';
import { runMain } from './lib/main.ts';
import { messages } from './lib/proto-messages.ts';

/**
 * Generates the built-in kinds of the lab's API server: names, verbs, schemas and printer columns. All are read from a
 * real API server of the imitated version.
 */

/** The included resources by API, each with its included subresources. */
const kept: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'api/v1': {
    namespaces: 'status finalize',
    nodes: 'status',
    pods: 'status log exec attach eviction binding',
    services: 'status',
    endpoints: '',
    configmaps: '',
    secrets: '',
    serviceaccounts: 'token',
    events: '',
    persistentvolumes: 'status',
    persistentvolumeclaims: 'status',
  },
  'apis/apps/v1': { deployments: 'status scale', replicasets: 'status scale' },
  'apis/batch/v1': { jobs: 'status' },
  'apis/policy/v1': { poddisruptionbudgets: 'status' },
  'apis/coordination.k8s.io/v1': { leases: '' },
  'apis/discovery.k8s.io/v1': { endpointslices: '' },
  'apis/storage.k8s.io/v1': { storageclasses: '' },
  'apis/rbac.authorization.k8s.io/v1': { roles: '', rolebindings: '', clusterroles: '', clusterrolebindings: '' },
  'apis/events.k8s.io/v1': { events: '' },
  'apis/scheduling.k8s.io/v1': { priorityclasses: '' },
  'apis/authentication.k8s.io/v1': { tokenreviews: '', selfsubjectreviews: '' },
  'apis/authorization.k8s.io/v1': {
    selfsubjectaccessreviews: '',
    selfsubjectrulesreviews: '',
    subjectaccessreviews: '',
    localsubjectaccessreviews: '',
  },
  'apis/apiextensions.k8s.io/v1': { customresourcedefinitions: 'status' },
};

/** Schemas that no included resource refers to, but that requests and answers use. */
const alsoKept = /\.(DeleteOptions|Scale|TokenRequest|Eviction|Binding|Status|WatchEvent)$/;

type Schema = Readonly<Record<string, unknown>>;
type Definitions = Record<string, Schema>;

interface Discovered {
  readonly resource: string;
  readonly responseKind: { readonly kind: string };
  readonly scope: string;
  readonly singularResource: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly (Discovered & { readonly subresource: string })[];
}

interface DiscoveryList {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly { readonly version: string; readonly resources: readonly Discovered[] }[];
  }[];
}

const discovery = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

async function read<T>(connection: Connection, path: string, accept = 'application/json'): Promise<T> {
  const limits = { beginMillis: 30_000, pauseMillis: 30_000 };
  const answer = await connection.request({ method: 'GET', path, headers: { accept }, ...limits });
  return (await answer.body.json()) as T;
}

const groupVersionOf = (api: string): { group: string; version: string } => {
  const [group = '', version = ''] = api === 'api/v1' ? ['', 'v1'] : api.split('/').slice(1);
  return { group, version };
};

/** Names, verbs and subresources of the included resources. */
async function resources(connection: Connection): Promise<readonly object[]> {
  const core = await read<DiscoveryList>(connection, '/api', discovery);
  const others = await read<DiscoveryList>(connection, '/apis', discovery);
  const found = [...core.items, ...others.items].flatMap(({ metadata, versions }) =>
    versions.flatMap(({ version, resources: list }) =>
      list.map((resource) => ({ group: metadata.name ?? '', version, ...resource })),
    ),
  );
  return Object.entries(kept).flatMap(([api, names]) => {
    const { group, version } = groupVersionOf(api);
    return Object.entries(names).map(([plural, subresources]) => {
      const one = found.find(
        (other) => other.group === group && other.version === version && other.resource === plural,
      );
      if (one === undefined) throw new Error(`the server has no ${plural} in ${api}`);
      return describe(one, new Set(subresources.split(' ')));
    });
  });
}

const describe = (one: Discovered & { group: string; version: string }, subresources: ReadonlySet<string>): object => ({
  group: one.group,
  version: one.version,
  plural: one.resource,
  singular: one.singularResource,
  kind: one.responseKind.kind,
  namespaced: one.scope === 'Namespaced',
  verbs: one.verbs,
  shortNames: one.shortNames ?? [],
  categories: one.categories ?? [],
  subresources: (one.subresources ?? [])
    .filter(({ subresource }) => subresources.has(subresource))
    .map(({ subresource, responseKind, verbs }) => ({ name: subresource, ...responseKind, verbs })),
});

/** The schemas reachable from the included kinds, by full name. */
async function definitions(connection: Connection, kinds: ReadonlySet<string>): Promise<Definitions> {
  const all: Definitions = {};
  for (const api of Object.keys(kept)) {
    const { components } = await read<{ components: { schemas: Definitions } }>(connection, `/openapi/v3/${api}`);
    for (const [name, schema] of Object.entries(components.schemas)) all[name] ??= compact(schema) as Schema;
  }
  const reached: Definitions = {};
  const reach = (name: string): void => {
    if (reached[name] !== undefined || all[name] === undefined) return;
    reached[name] = all[name];
    for (const [, inner = ''] of JSON.stringify(all[name]).matchAll(/"\$ref":"([^"]+)"/g)) reach(inner);
  };
  for (const name of Object.keys(all)) if (isWanted(all[name] ?? {}, kinds) || alsoKept.test(name)) reach(name);
  return Object.fromEntries(Object.entries(reached).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isWanted(schema: Schema, kinds: ReadonlySet<string>): boolean {
  const of = schema['x-kubernetes-group-version-kind'] as readonly Record<string, string>[] | undefined;
  return (of ?? []).some(({ group, version, kind }) => kinds.has(`${group}/${version}/${kind}`));
}

/** Drops descriptions, and defaults that equal Go's zero values. */
function compact(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(compact);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { allOf, ...rest } = schema as { allOf?: readonly { $ref?: string }[] };
  const reference = allOf?.length === 1 ? allOf[0]?.$ref : undefined;
  const flat = reference === undefined ? schema : { ...rest, $ref: reference };
  return Object.fromEntries(
    Object.entries(flat)
      .filter(([key, value]) => !isNoise(key, value))
      .map(([key, value]) => [key, compactField(key, value)]),
  );
}

/** Keys below `properties` are field names, not schema keywords. */
function compactField(key: string, value: unknown): unknown {
  if (key === '$ref') return String(value).split('/').at(-1);
  if (key !== 'properties') return compact(value);
  return Object.fromEntries(Object.entries(value as object).map(([name, schema]) => [name, compact(schema)]));
}

const isNoise = (key: string, value: unknown): boolean =>
  (key === 'description' && typeof value === 'string') ||
  (key === 'default' && ['{}', '""', '0', 'false'].includes(JSON.stringify(value)));

interface Table {
  readonly columnDefinitions: readonly { name: string; type: string; format: string; priority: number }[];
}

/** The printer columns of each resource. */
async function columns(connection: Connection): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  const all = Object.entries(kept).flatMap(([api, names]) =>
    Object.keys(names).map((plural) => [api, plural] as const),
  );
  for (const [api, plural] of all) {
    const { columnDefinitions } = await read<Partial<Table>>(connection, `/${api}/${plural}?limit=1`, table);
    const { group } = groupVersionOf(api);
    const name = group === '' ? plural : `${plural}.${group}`;
    if (columnDefinitions === undefined) continue;
    found[name] = columnDefinitions.map(({ name: title, type, format, priority }) => [title, type, format, priority]);
  }
  return found;
}

const keptRoles = /^(cluster-admin|admin|edit|view|system:(aggregate-to-.*|discovery|basic-user|public-info-viewer))$/;

interface Role {
  readonly metadata: { readonly name: string; readonly labels?: object; readonly annotations?: object };
}

const bare = (kind: string, { metadata: { name, labels, annotations }, ...content }: Role): object => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind,
  metadata: { name, labels, annotations },
  ...content,
});

/** The included default ClusterRoles and ClusterRoleBindings. */
async function rights(connection: Connection): Promise<readonly object[]> {
  const root = '/apis/rbac.authorization.k8s.io/v1';
  const found: object[] = [];
  for (const kind of ['ClusterRole', 'ClusterRoleBinding']) {
    const { items } = await read<{ items: Role[] }>(connection, `${root}/${kind.toLowerCase()}s`);
    found.push(...items.filter(({ metadata }) => keptRoles.test(metadata.name)).map((item) => bare(kind, item)));
  }
  return found;
}

/** One entry per line, for readable diffs. */
const lines = (entries: readonly string[], [open, close]: readonly [string, string]): string =>
  `${open}\n${entries.join(',\n')}\n${close}\n`;
const entriesOf = (object: object): readonly string[] =>
  Object.entries(object).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);

async function generate(kubeconfig: string): Promise<void> {
  const connection = connectTo(await fromKubeconfig(kubeconfig), { userAgent: 'generate-kinds' });
  const known = await resources(connection);
  const kinds = new Set(
    (known as { group: string; version: string; kind: string }[]).flatMap(({ group, version, kind }) => [
      `${group}/${version}/${kind}`,
      `${group}/${version}/${kind}List`,
    ]),
  );
  const place = join(import.meta.dirname, '../lab/apiserver/gen');
  mkdirSync(place, { recursive: true });
  const write = (name: string, content: string): void => writeFileSync(join(place, `${name}.json`), content);
  write(
    'resources',
    lines(
      known.map((one) => JSON.stringify(one)),
      ['[', ']'],
    ),
  );
  const shapes = await definitions(connection, kinds);
  write('schemas', lines(entriesOf(shapes), ['{', '}']));
  write('columns', lines(entriesOf(await columns(connection)), ['{', '}']));
  write('messages', lines(entriesOf(await messages(new Set(Object.keys(shapes)))), ['{', '}']));
  write('rights', `${JSON.stringify(await rights(connection))}\n`);
  write('version', `${JSON.stringify(await read(connection, '/version'))}\n`);
  await connection.close();
}

await runMain(() => {
  const kubeconfig = process.env['KUBECONFIG'];
  if (!kubeconfig)
    throw new Error('KUBECONFIG is not set: set it to a cluster of the version to imitate (see make cluster)');
  return generate(kubeconfig);
});
