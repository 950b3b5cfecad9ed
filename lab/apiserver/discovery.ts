import type { Form } from './http/negotiate.ts';
import type { ServerState } from './state.ts';
import { apiVersionOf, type ResourceType, type Subresource } from './types/resource-type.ts';

/** The discovery documents: `/api`, `/apis` and below. */
export function discover({ types }: ServerState, path: string, form: Form): object | undefined {
  const all = types.all();
  const [root, group = '', version = ''] = path.split('/').filter(Boolean);
  if (root === 'api') return core(all, group, form);
  if (root !== 'apis') return undefined;
  const others = groupsOf(all.filter((type) => type.group !== ''));
  if (group === '') return listed(others, form);
  const ofGroup = others.get(group) ?? [];
  return version === '' ? oneGroup(group, ofGroup) : resourceList(ofGroup, version);
}

const listed = (groups: Groups, { as }: Form): object =>
  as === 'APIGroupDiscoveryList' ? aggregated(groups) : groupList(groups);

const oneGroup = (name: string, types: readonly ResourceType[]): object | undefined =>
  types.length === 0 ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(name, types) };

function core(all: readonly ResourceType[], version: string, form: Form): object | undefined {
  const ofCore = all.filter(({ group }) => group === '');
  if (version !== '') return resourceList(ofCore, version);
  if (form.as === 'APIGroupDiscoveryList') return aggregated(new Map([['', ofCore]]));
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
}

type Groups = ReadonlyMap<string, readonly ResourceType[]>;
const groupsOf = (types: readonly ResourceType[]): Groups => Map.groupBy(types, ({ group }) => group);
const versionsOf = (types: readonly ResourceType[]): Groups => Map.groupBy(types, ({ version }) => version);

const groupList = (groups: Groups): object => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: [...groups].map(([name, types]) => groupEntry(name, types)),
});

function groupEntry(name: string, types: readonly ResourceType[]): object {
  const versions = [...versionsOf(types).keys()].map((version) => ({
    groupVersion: apiVersionOf({ group: name, version }),
    version,
  }));
  return { name, versions, preferredVersion: versions[0] };
}

function resourceList(types: readonly ResourceType[], version: string): object | undefined {
  const served = types.filter((type) => type.version === version);
  const [first] = served;
  if (first === undefined) return undefined;
  const resources = served.flatMap((type) => [
    plainEntry(type),
    ...type.subresources.map((part) => plainPart(type, part)),
  ]);
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: apiVersionOf(first), resources };
}

const plainEntry = ({ plural, singular, namespaced, kind, verbs, shortNames, categories }: ResourceType): object => ({
  name: plural,
  singularName: singular,
  namespaced,
  kind,
  verbs,
  ...(shortNames.length > 0 && { shortNames }),
  ...(categories.length > 0 && { categories }),
});

const plainPart = (
  { plural, namespaced }: ResourceType,
  { name, group, version, kind, verbs }: Subresource,
): object => ({
  name: `${plural}/${name}`,
  singularName: '',
  namespaced,
  ...(version !== '' && { group, version }),
  kind,
  verbs,
});

const aggregated = (groups: Groups): object => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  metadata: {},
  items: [...groups].map(([name, types]) => ({
    metadata: name === '' ? {} : { name, creationTimestamp: null },
    versions: [...versionsOf(types)].map(([version, served]) => ({
      version,
      resources: served.map(fullEntry),
      freshness: 'Current',
    })),
  })),
});

const fullEntry = (type: ResourceType): object => ({
  resource: type.plural,
  responseKind: { group: type.group, version: type.version, kind: type.kind },
  scope: type.namespaced ? 'Namespaced' : 'Cluster',
  singularResource: type.singular,
  verbs: type.verbs,
  ...(type.shortNames.length > 0 && { shortNames: type.shortNames }),
  ...(type.categories.length > 0 && { categories: type.categories }),
  ...(type.subresources.length > 0 && { subresources: type.subresources.map(fullPart) }),
});

const fullPart = ({ name, group, version, kind, verbs }: Subresource): object => ({
  subresource: name,
  responseKind: { group, version, kind },
  verbs,
});
