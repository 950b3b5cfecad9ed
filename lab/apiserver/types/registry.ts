import resources from '../gen/resources.json' with { type: 'json' };
import { schemaOfKind } from '../schema/schema.ts';
import type { ResourceType, Subresource } from './resource-type.ts';

type Described = Omit<ResourceType, 'listKind' | 'collection' | 'schema' | 'custom'>;

/** Events are one collection with two API groups. */
const sharedCollections: Readonly<Record<string, string>> = { 'events.k8s.io/events': '/events' };

const builtIn: readonly ResourceType[] = (resources as readonly (Described & { subresources: Subresource[] })[]).map(
  (described) => {
    const collection = `${described.group}/${described.plural}`;
    return {
      ...described,
      listKind: `${described.kind}List`,
      collection: sharedCollections[collection] ?? collection,
      schema: schemaOfKind(described.group, described.version, described.kind),
    };
  },
);

const keyOf = ({ group, version, plural }: Pick<ResourceType, 'group' | 'version' | 'plural'>): string =>
  `${group}/${version}/${plural}`;

/** All resource types of the server: built-in and custom. */
export class Registry {
  readonly #types = new Map<string, ResourceType>(builtIn.map((type) => [keyOf(type), type]));

  /** Built-in types first, then custom types by group, so that an ambiguous name always means the same type. */
  all(): readonly ResourceType[] {
    const types = [...this.#types.values()];
    const custom = types.filter((type) => type.custom !== undefined);
    const byGroup = custom.toSorted((a, b) => (a.group < b.group ? -1 : Number(a.group > b.group)));
    return [...types.filter((type) => type.custom === undefined), ...byGroup];
  }

  find(of: Pick<ResourceType, 'group' | 'version' | 'plural'>): ResourceType | undefined {
    return this.#types.get(keyOf(of));
  }

  /** The type of a group and kind, in the given version or any. */
  ofKind(group: string, kind: string, version?: string): ResourceType | undefined {
    return this.all().find(
      (type) => type.group === group && type.kind === kind && (version === undefined || type.version === version),
    );
  }

  /** A type of a collection, in any version. */
  ofCollection(collection: string): ResourceType | undefined {
    return this.all().find((type) => type.collection === collection);
  }

  /** Replaces all custom types of one resource. */
  define(collection: string, types: readonly ResourceType[]): void {
    for (const [key, type] of this.#types)
      if (type.custom !== undefined && type.collection === collection) this.#types.delete(key);
    for (const type of types) this.#types.set(keyOf(type), type);
  }
}
