import { notAcceptable } from '../refusal.ts';

/** In which form the answer is wanted. */
export interface Form {
  readonly as: 'object' | 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | 'APIGroupDiscoveryList';
  readonly includeObject: string;
}

const known = new Set(['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList', 'APIGroupDiscoveryList']);

/** The first form in an Accept header that the server can answer in. */
export function formOf(accept: string | undefined, query: URLSearchParams): Form {
  const found = (accept || '*/*')
    .split(',')
    .map(asIn)
    .find((as) => as !== undefined);
  if (found === undefined) throw notAcceptable();
  return { as: found, includeObject: query.get('includeObject') ?? 'Metadata' };
}

const json = new Set(['application/json', '*/*', 'application/*']);

/** The form that one clause asks for, if it can be had. */
function asIn(clause: string): Form['as'] | undefined {
  const [media = '', ...parameters] = clause.split(';').map((part) => part.trim());
  const as = parameters.find((parameter) => parameter.startsWith('as='))?.slice(3);
  if (!json.has(media)) return undefined;
  if (as === undefined) return 'object';
  return known.has(as) && isServed(as, parameters) ? (as as Form['as']) : undefined;
}

/** Discovery exists in two versions, of which the older is not served. */
const isServed = (as: string, parameters: readonly string[]): boolean =>
  as === 'APIGroupDiscoveryList' ? parameters.includes('v=v2') : parameters.includes('v=v1');
