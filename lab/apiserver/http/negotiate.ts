import { notAcceptable } from '../status-error.ts';

/** The requested form of the response. */
export interface Form {
  readonly as: 'object' | 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | 'APIGroupDiscoveryList';
  readonly includeObject: string;
}

const known = new Set(['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList', 'APIGroupDiscoveryList']);

/** The first form in an Accept header that the server supports. */
export function formOf(accept: string | undefined, query: URLSearchParams): Form {
  const found = (accept || '*/*')
    .split(',')
    .map(formInClause)
    .find((as) => as !== undefined);
  if (found === undefined) throw notAcceptable();
  return { as: found, includeObject: query.get('includeObject') ?? 'Metadata' };
}

const json = new Set(['application/json', '*/*', 'application/*']);

/** The form of one clause, if it is supported. */
function formInClause(clause: string): Form['as'] | undefined {
  const [media = '', ...parameters] = clause.split(';').map((part) => part.trim());
  const as = parameters.find((parameter) => parameter.startsWith('as='))?.slice(3);
  if (!json.has(media)) return undefined;
  if (as === undefined) return 'object';
  return known.has(as) && isServed(as, parameters) ? (as as Form['as']) : undefined;
}

/** Discovery is served in version v2 only. */
const isServed = (as: string, parameters: readonly string[]): boolean =>
  as === 'APIGroupDiscoveryList' ? parameters.includes('v=v2') : parameters.includes('v=v1');
