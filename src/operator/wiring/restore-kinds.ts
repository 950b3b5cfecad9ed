import type { RestoreDialect } from '../../apis/common/restore-dialect.ts';
import { coreosRestores } from '../../apis/coreos-v1beta2/restore.ts';
import { improbableRestores } from '../../apis/improbable-v1alpha1/backup/restore.ts';
import type { ClusterObject } from '../../controllers/shared/context.ts';
import { namespaced, type Resource } from '../../kube/resource.ts';
import type { DialectName } from './served.ts';

/** The restore kind of an API, and its Lease. Its CRD is optional. */
export interface RestoreKind {
  readonly dialect: RestoreDialect;
  readonly resource: Resource<ClusterObject>;
  /** The Lease of the restore controllers. The coreos API uses the name of the original restore operator. */
  readonly lease: string;
  /** True if the original had a separate lock of that name for restores. */
  readonly hadOwnLock: boolean;
}

const kind = (dialect: RestoreDialect, lease: string, hadOwnLock: boolean): RestoreKind => ({
  dialect,
  lease,
  hadOwnLock,
  resource: namespaced(dialect),
});

export const restoreKinds: Readonly<Record<DialectName, RestoreKind>> = {
  coreos: kind(coreosRestores, 'etcd-restore-operator', true),
  improbable: kind(improbableRestores, 'etcd-restore-operator-improbable', false),
};
