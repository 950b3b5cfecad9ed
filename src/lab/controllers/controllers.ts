import type { Runnable } from '../../runtime/manager.ts';
import { budgets } from './budgets.ts';
import { volumeClaims } from './claims.ts';
import type { Tools } from './controller.ts';
import { deploymentController } from './deployments.ts';
import { endpoints } from './endpoints.ts';
import { jobController } from './jobs.ts';
import { nodeLifecycle } from './node-lifecycle.ts';
import { replicaSetController } from './replica-sets.ts';
import { scheduler } from './scheduler.ts';

export interface ControllersOptions {
  /** After what silence a node is given up. */
  readonly graceSeconds: number;
  /** Where the directories of persistent volumes are. */
  readonly volumes: string;
}

/** All controllers of the lab: what kube-scheduler and kube-controller-manager are in a cluster. */
export const controllers = (tools: Tools, options: ControllersOptions): readonly Runnable[] => [
  scheduler(tools),
  endpoints(tools),
  volumeClaims(tools, options.volumes),
  budgets(tools),
  deploymentController(tools),
  replicaSetController(tools),
  jobController(tools),
  nodeLifecycle(tools, options.graceSeconds),
];
