import { isDeepStrictEqual } from 'node:util';

/** True if two JSON values are equal. The order of fields does not count. */
export const isDeepEqual = (one: unknown, other: unknown): boolean => isDeepStrictEqual(one, other);
