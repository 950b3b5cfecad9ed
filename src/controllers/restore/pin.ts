import type { RestoreTools } from './sources.ts';

/** The finalizer of a restore that must not go before it is over. */
export const pinOf = ({ dialect }: Pick<RestoreTools, 'dialect'>): string => `${dialect.group}/restore-under-way`;
