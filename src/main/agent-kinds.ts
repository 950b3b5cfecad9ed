import type { ClusterObject } from '../controllers/cluster/sources.ts';
import { coreosBackups } from '../dialects/coreos-v1beta2/backup.ts';
import { coreosRestores } from '../dialects/coreos-v1beta2/restore.ts';
import { namespaced, type Resource } from '../kube/resource.ts';

/** Kinds whose definitions not everybody installs. */
export const backups: Resource<ClusterObject> = namespaced(coreosBackups);
export const restores: Resource<ClusterObject> = namespaced(coreosRestores);
