/** What a path speaks of. */
export interface Target {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Nothing for all namespaces, and for what is in none. */
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** Parts of a namespace itself, where other names would be resources inside of it. */
const ofNamespaces = new Set(['status', 'finalize']);

/** Reads `/api/v1/…` and `/apis/group/version/…`; any other path is not about resources. */
export function targetOf(path: string): Target | undefined {
  const parts = path.split('/').filter(Boolean).map(decodeURIComponent);
  const isCore = parts[0] === 'api';
  if (!isCore && parts[0] !== 'apis') return undefined;
  const [group = '', version = '', ...rest] = isCore ? ['', ...parts.slice(1)] : parts.slice(1);
  if (rest.length === 0) return undefined;
  return { group, version, ...within(rest) };
}

function within(rest: readonly string[]): Omit<Target, 'group' | 'version'> {
  const [first = '', namespace, third] = rest;
  const isInside = first === 'namespaces' && third !== undefined && !ofNamespaces.has(third);
  if (!isInside) return named(first, rest.slice(1));
  return { namespace: namespace ?? '', ...named(third, rest.slice(3)) };
}

const named = (plural: string, [name, subresource]: readonly string[]): Omit<Target, 'group' | 'version'> => ({
  plural,
  ...(name !== undefined && { name }),
  ...(subresource !== undefined && { subresource }),
});
