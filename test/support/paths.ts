/** A part of a path: a field, an item, all items of a list, or the items with a given field value. */
type Part = (value: unknown) => readonly unknown[];

const syntax = /\.((?:\\.|[^.[\]\\])+)|\[(\d+)\]|\[\*\]|\[\?\(@\.(\w+)=="([^"]*)"\)\]/gy;

/**
 * All values at a path of kubectl's JSONPath. Supported forms: `.status.phase`, `.spec.containers[0]`,
 * `.spec.volumes[*].name`, `.status.conditions[?(@.type=="Ready")].status`, `.metadata.annotations.example\.com/a`.
 */
export function valuesAt(object: unknown, path: string): readonly unknown[] {
  return partsOf(path).reduce<readonly unknown[]>((values, part) => values.flatMap(part), [object]);
}

function partsOf(path: string): readonly Part[] {
  const found = [...path.matchAll(syntax)];
  if (found.map(([whole]) => whole).join('') !== path) throw new Error(`unsupported path ${path}`);
  return found.map(([, name, index, key = '', value]) => {
    const one = name?.replaceAll('\\', '') ?? index;
    if (one !== undefined) return (inner) => fieldOf(inner, one);
    return (inner) => itemsOf(inner).filter((item) => value === undefined || fieldOf(item, key)[0] === value);
  });
}

function fieldOf(object: unknown, name: string): readonly unknown[] {
  const value: unknown = typeof object === 'object' && object !== null ? Reflect.get(object, name) : undefined;
  return value === undefined || value === null ? [] : [value];
}

const itemsOf = (list: unknown): readonly unknown[] => (Array.isArray(list) ? (list as readonly unknown[]) : []);

/** A value as kubectl prints it. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
