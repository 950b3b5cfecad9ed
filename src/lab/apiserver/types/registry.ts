import resources from '../gen/resources.json' with { type: 'json' };
import { schemaOfKind } from '../schema/schema.ts';
import type { ResourceType, Subresource } from './resource-type.ts';

type Described = Omit<ResourceType, 'listKind' | 'collection' | 'schema' | 'custom'>;

/** Events are one thing with two names. */
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

/** Every kind of object the server knows at the moment: those built in, and those defined by custom resources. */
export class Registry {
  readonly #types = new Map<string, ResourceType>(builtIn.map((type) => [keyOf(type), type]));

  /** Those built in first; then by group, so that a name which several groups have means the same whichever came first. */
  all(): readonly ResourceType[] {
    const types = [...this.#types.values()];
    const custom = types.filter((type) => type.custom !== undefined);
    const byGroup = custom.toSorted((a, b) => (a.group < b.group ? -1 : Number(a.group > b.group)));
    return [...types.filter((type) => type.custom === undefined), ...byGroup];
  }

  find(of: Pick<ResourceType, 'group' | 'version' | 'plural'>): ResourceType | undefined {
    return this.#types.get(keyOf(of));
  }

  /** A type of that group and kind, in the given version or in any. */
  ofKind(group: string, kind: string, version?: string): ResourceType | undefined {
    return this.all().find(
      (type) => type.group === group && type.kind === kind && (version === undefined || type.version === version),
    );
  }

  /** The type by which the objects of a collection are handled when it does not matter in which version. */
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
