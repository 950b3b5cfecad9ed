/** The resource and object of a path. */
export interface RequestTarget {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Absent for all namespaces and for cluster-scoped resources. */
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** Subresources of a namespace. Other names are resources inside the namespace. */
const ofNamespaces = new Set(['status', 'finalize']);

/** Parses `/api/v1/…` and `/apis/group/version/…`; other paths are not about resources. */
export function targetOf(path: string): RequestTarget | undefined {
  const parts = path.split('/').filter(Boolean).map(decodeURIComponent);
  const isCore = parts[0] === 'api';
  if (!isCore && parts[0] !== 'apis') return undefined;
  const [group = '', version = '', ...rest] = isCore ? ['', ...parts.slice(1)] : parts.slice(1);
  if (rest.length === 0) return undefined;
  return { group, version, ...resourceIn(rest) };
}

function resourceIn(rest: readonly string[]): Omit<RequestTarget, 'group' | 'version'> {
  const [first = '', namespace, third] = rest;
  const isInside = first === 'namespaces' && third !== undefined && !ofNamespaces.has(third);
  if (!isInside) return named(first, rest.slice(1));
  return { namespace: namespace ?? '', ...named(third, rest.slice(3)) };
}

const named = (plural: string, [name, subresource]: readonly string[]): Omit<RequestTarget, 'group' | 'version'> => ({
  plural,
  ...(name !== undefined && { name }),
  ...(subresource !== undefined && { subresource }),
});
