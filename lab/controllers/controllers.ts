import type { Runnable } from '../../src/runtime/manager.ts';
import { budgetController } from './budgets.ts';
import { volumeClaims } from './claims.ts';
import type { ControllerContext } from './controller.ts';
import { deploymentController } from './deployments.ts';
import { endpoints } from './endpoints.ts';
import { jobController } from './jobs.ts';
import { nodeLifecycle } from './node-lifecycle.ts';
import { replicaSetController } from './replica-sets.ts';
import { scheduler } from './scheduler.ts';

export interface ControllersOptions {
  /** The silence after which a node is not ready. */
  readonly graceSeconds: number;
  /** The directory of persistent volumes. */
  readonly volumes: string;
}

/** The controllers of the lab: its kube-scheduler and kube-controller-manager. */
export const controllers = (context: ControllerContext, options: ControllersOptions): readonly Runnable[] => [
  scheduler(context),
  endpoints(context),
  volumeClaims(context, options.volumes),
  budgetController(context),
  deploymentController(context),
  replicaSetController(context),
  jobController(context),
  nodeLifecycle(context, options.graceSeconds),
];
