import type { RestoreContext } from './context.ts';

/** The finalizer that keeps an EtcdRestore until the restore is over. */
export const restoreFinalizer = ({ dialect }: Pick<RestoreContext, 'dialect'>): string =>
  `${dialect.group}/restore-under-way`;
