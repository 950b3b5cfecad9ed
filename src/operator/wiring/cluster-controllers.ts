import { type Runnable, runTogether } from '../../runtime/manager.ts';
import { type ClusterController, type ClusterParts, clusterController } from './clusters.ts';
import { isDefined, type Served, waitUntilDefined } from './served.ts';

export interface ServedClusterParts extends ClusterParts {
  readonly dialects: readonly Served[];
  /** Called with the caches of clusters, one per API. */
  readonly onCaches: (declared: readonly ClusterController['clusters'][]) => void;
}

/** Runs a controller for each API while this replica leads. A controller starts once the CRDs of its API exist. */
export const clusterControllers =
  (parts: ServedClusterParts): Runnable =>
  async (signal) => {
    const controllers = parts.dialects.map(({ dialect }) => clusterController(dialect, parts));
    for (const each of controllers) each.avoidNamesOf(controllers.filter((other) => other !== each));
    parts.onCaches(controllers.map(({ clusters }) => clusters));
    const found = await Promise.all(controllers.map(({ dialect }) => isDefined(dialect, parts, signal)));
    const present = new Set(controllers.filter((_, i) => found[i]));
    const run =
      (controller: ClusterController): Runnable =>
      async (stop) => {
        if (!present.has(controller) && !(await waitUntilDefined(controller.dialect, parts, stop))) return;
        present.add(controller);
        await controller.run([...present], stop); // name conflicts are known only when the caches of all APIs are complete
      };
    await runTogether(controllers.map(run), signal);
  };
