import type { ClusterObject, Tools } from '../controllers/cluster/sources.ts';
import { restoreReconciler } from '../controllers/restore/reconcile.ts';
import { coreos } from '../dialects/coreos-v1beta2/dialect.ts';
import { coreosRestores } from '../dialects/coreos-v1beta2/restore.ts';
import { EtcdConnections } from '../etcd/connections.ts';
import { namespaced, type Resource } from '../kube/resource.ts';
import type { Runnable } from '../runtime/manager.ts';
import { type AgentParts, agentController } from './agent-controller.ts';
import { restores } from './agent-kinds.ts';
import { randomName } from './random-name.ts';

const clusters: Resource<ClusterObject> = namespaced(coreos);

export interface RestoreParts extends AgentParts {
  readonly wayTo: Tools['wayTo'];
  readonly keepsSecrets: boolean;
}

/** What looks after restores while this replica leads. */
export const restoreController =
  (parts: RestoreParts): Runnable =>
  async (signal) => {
    using etcd = new EtcdConnections();
    const { wayTo, keepsSecrets } = parts;
    const own = { etcd, wayTo, keepsSecrets, randomName };
    const running = agentController(parts, {
      resource: restores,
      purpose: 'restore',
      expects: 'nothing',
      reconciler: (shared, { declared, agents }) =>
        restoreReconciler({
          ...{ ...shared, ...own },
          dialect: coreosRestores,
          resource: restores,
          clusters: { dialect: coreos, resource: clusters },
          caches: { restores: declared, agents },
        }),
    });
    await running(signal);
  };
