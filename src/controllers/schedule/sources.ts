import type { ScheduleDialect } from '../../dialects/schedule-dialect.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Store } from '../../runtime/store.ts';
import type { ClusterObject, Tools } from '../cluster/sources.ts';

/** All that one controller of schedules works with. */
export interface ScheduleTools extends Pick<Tools, 'writer' | 'caughtUp' | 'now' | 'tell' | 'log' | 'isOurs'> {
  readonly dialect: ScheduleDialect;
  readonly resource: Resource<ClusterObject>;
  /** The backups that are made. */
  readonly backups: Resource<ClusterObject>;
  readonly caches: { readonly schedules: Store<ClusterObject>; readonly backups: Store<ClusterObject> };
}
