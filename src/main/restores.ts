import type { OperatorsStore } from '../controllers/agents/operators-store.ts';
import { TerminatingPods } from '../controllers/agents/terminating-pods.ts';
import type { Tools } from '../controllers/cluster/sources.ts';
import { Glances } from '../controllers/restore/glance.ts';
import { restoreReconciler } from '../controllers/restore/reconcile.ts';
import { accountsRestrictedTo, type Restrictions } from '../dialects/restrictions.ts';
import { EtcdConnections } from '../etcd/connections.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import type { Runnable } from '../runtime/manager.ts';
import { forgetting } from '../runtime/memories.ts';
import { type AgentParts, agentController } from './agent-controller.ts';
import { connectionsOf } from './kept-connections.ts';
import { hasStore } from './places.ts';
import { randomName } from './random-name.ts';
import { restoreKinds } from './restore-kinds.ts';
import { clustersOf, type Served } from './served.ts';

export interface RestoreParts extends AgentParts {
  readonly wayTo: Tools['wayTo'];
  readonly keepsSecrets: boolean;
  readonly operators: OperatorsStore;
  readonly restrictions?: Restrictions | undefined;
  /** All APIs that are served: names that clusters of one have are taken for those of the others. */
  readonly dialects: readonly Served[];
}

/** What looks after the restores of one API while this replica leads. */
export const restoreController =
  ({ name, dialect: clusters }: Served, parts: RestoreParts): Runnable =>
  async (signal) => {
    using etcd = new EtcdConnections();
    const { wayTo, keepsSecrets, dialects, operators } = parts;
    const { dialect: unrestricted, resource } = restoreKinds[name];
    const dialect = accountsRestrictedTo(parts.restrictions, unrestricted);
    const own = { etcd, wayTo, keepsSecrets, randomName, dialect, resource, operators };
    const rivals = dialects.filter((other) => other.name !== name).map((other) => clustersOf(other.dialect));
    const running = agentController(parts, {
      resource,
      purpose: 'restore',
      expects: 'nothing',
      worksAtHome: hasStore({ store: operators }),
      reconciler: (shared, { declared, agents }) => {
        const { memories, secrets } = shared;
        const connections = memories.add('connections', connectionsOf(etcd));
        const glances = memories.add('glances', new Glances(clock));
        const terminating = memories.add('terminating', new TerminatingPods(clock));
        const reconcile = restoreReconciler({
          ...{ ...shared, ...own, rivals, glances, terminating },
          clusters: { dialect: clusters, resource: clustersOf(clusters) },
          caches: { restores: declared, agents },
        });
        const forget = (key: string): void => {
          for (const each of [connections, glances, secrets, terminating]) each?.forget(key);
        };
        return forgetting(reconcile, { forget }, () => true); // one that is over may stay for years
      },
    });
    await running(signal);
  };
