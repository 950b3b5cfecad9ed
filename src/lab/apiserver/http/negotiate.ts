import { notAcceptable } from '../refusal.ts';

/** In which form the answer is wanted. */
export interface Form {
  readonly as: 'object' | 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | 'APIGroupDiscoveryList';
  readonly includeObject: string;
}

const known = new Set(['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList', 'APIGroupDiscoveryList']);

/** The first form in an Accept header that the server can answer in. */
export function formOf(accept: string | undefined, query: URLSearchParams): Form {
  const includeObject = query.get('includeObject') ?? 'Metadata';
  for (const clause of (accept || '*/*').split(',')) {
    const [media = '', ...parameters] = clause.split(';').map((part) => part.trim());
    const as = parameters.find((parameter) => parameter.startsWith('as='))?.slice(3);
    const isJson = media === 'application/json' || media === '*/*' || media === 'application/*';
    if (isJson && as === undefined) return { as: 'object', includeObject };
    if (isJson && as !== undefined && known.has(as) && isServed(as, parameters))
      return { as: as as Form['as'], includeObject };
  }
  throw notAcceptable();
}

/** Discovery exists in two versions, of which the older is not served. */
const isServed = (as: string, parameters: readonly string[]): boolean =>
  as === 'APIGroupDiscoveryList' ? parameters.includes('v=v2') : parameters.includes('v=v1');
