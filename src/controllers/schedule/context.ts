import type { ScheduleDialect } from '../../apis/common/schedule-dialect.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Store } from '../../runtime/store.ts';
import type { ClusterObject, ControllerContext } from '../shared/context.ts';

/** The controller context of EtcdBackupSchedules. */
export interface ScheduleContext
  extends Pick<ControllerContext, 'writer' | 'caughtUp' | 'now' | 'recordEvent' | 'log' | 'isOurs'> {
  readonly dialect: ScheduleDialect;
  readonly resource: Resource<ClusterObject>;
  /** The kind of the backups that a schedule creates. */
  readonly backups: Resource<ClusterObject>;
  readonly caches: { readonly schedules: Store<ClusterObject>; readonly backups: Store<ClusterObject> };
}
