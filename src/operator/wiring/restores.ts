import { type Restrictions, withAccountRestrictions } from '../../apis/common/restrictions.ts';
import { AwaitedObjects } from '../../controllers/restore/awaited-objects.ts';
import { restoreReconciler } from '../../controllers/restore/reconcile.ts';
import type { ControllerContext } from '../../controllers/shared/context.ts';
import type { OperatorStore } from '../../controllers/shared/operator-store.ts';
import { TerminatingPods } from '../../controllers/shared/terminating-pods.ts';
import { EtcdConnections } from '../../etcd/connections.ts';
import { systemClock as clock } from '../../runtime/clock.ts';
import type { Runnable } from '../../runtime/manager.ts';
import { forgetWhenOver } from '../../runtime/memories.ts';
import { connectionsOf } from '../kept-connections.ts';
import { hasStore } from '../places.ts';
import { randomName } from '../random-name.ts';
import { type AgentParts, agentController } from './agent-kinds.ts';
import { restoreKinds } from './restore-kinds.ts';
import { clustersOf, type Served } from './served.ts';

export interface RestoreParts extends AgentParts {
  readonly dialerTo: ControllerContext['dialerTo'];
  readonly mayWriteSecrets: boolean;
  readonly operators: OperatorStore;
  readonly restrictions?: Restrictions | undefined;
  /** All served APIs: a cluster name can be used by one API only. */
  readonly dialects: readonly Served[];
}

/** The controller of the restores of one API, for the time this replica leads. */
export const restoreController =
  ({ name, dialect: clusters }: Served, parts: RestoreParts): Runnable =>
  async (signal) => {
    using etcd = new EtcdConnections();
    const { dialerTo, mayWriteSecrets, dialects, operators } = parts;
    const nameOf = (cluster: string): string => randomName(cluster, clock.random);
    const { dialect: unrestricted, resource } = restoreKinds[name];
    const dialect = withAccountRestrictions(parts.restrictions, unrestricted);
    const own = { etcd, dialerTo, mayWriteSecrets, randomName: nameOf, dialect, resource, operators };
    const otherClusterKinds = dialects.filter((other) => other.name !== name).map((other) => clustersOf(other.dialect));
    const running = agentController(parts, {
      resource,
      purpose: 'restore',
      expects: 'nothing',
      worksAtHome: hasStore({ store: operators }),
      reconciler: (shared, { declared, agents }) => {
        const { memories, secrets } = shared;
        const connections = memories.add('connections', connectionsOf(etcd));
        const awaitedObjects = memories.add('awaitedObjects', new AwaitedObjects(clock));
        const terminating = memories.add('terminating', new TerminatingPods(clock));
        const reconcile = restoreReconciler({
          ...shared,
          ...own,
          otherClusterKinds,
          awaitedObjects,
          terminating,
          clusters: { dialect: clusters, resource: clustersOf(clusters) },
          caches: { restores: declared, agents },
        });
        const forget = (key: string): void => {
          for (const each of [connections, awaitedObjects, secrets, terminating]) each?.forget(key);
        };
        return forgetWhenOver(reconcile, { forget }, () => true); // finished restores may stay for years
      },
    });
    await running(signal);
  };
