import type { ClusterObject } from '../controllers/cluster/sources.ts';
import { coreosRestores } from '../dialects/coreos-v1beta2/restore.ts';
import { improbableRestores } from '../dialects/improbable-v1alpha1/restore.ts';
import type { RestoreDialect } from '../dialects/restore-dialect.ts';
import { namespaced, type Resource } from '../kube/resource.ts';
import type { DialectName } from './served.ts';

/** Restores of one API, whose definitions not everybody installs. */
export interface RestoreKind {
  readonly dialect: RestoreDialect;
  readonly resource: Resource<ClusterObject>;
  /** The lock of an operator for these alone; of the first, the original's name for it. */
  readonly lease: string;
  /** Whether the original's operator of these had a lock of that name. */
  readonly hadOwnLock: boolean;
}

const kind = (dialect: RestoreDialect, lease: string, hadOwnLock: boolean): RestoreKind => ({
  ...{ dialect, lease, hadOwnLock },
  resource: namespaced(dialect),
});

export const restoreKinds: Readonly<Record<DialectName, RestoreKind>> = {
  coreos: kind(coreosRestores, 'etcd-restore-operator', true),
  improbable: kind(improbableRestores, 'etcd-restore-operator-improbable', false),
};
