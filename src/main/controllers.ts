import { type Runnable, runTogether } from '../runtime/manager.ts';
import { type Controller, type ControllerParts, clusterController } from './controller.ts';
import { isDefined, type Served, whenDefined } from './served.ts';

export interface Parts extends ControllerParts {
  readonly dialects: readonly Served[];
  /** Shown the clusters that there are, of each API, once there is a copy of them. */
  readonly onCaches: (declared: readonly Controller['clusters'][]) => void;
}

/** What runs while this replica leads: a controller for each API whose kinds are defined, from when they are. */
export const clusterControllers =
  (parts: Parts): Runnable =>
  async (signal) => {
    const controllers = parts.dialects.map(({ dialect }) => clusterController(dialect, parts));
    for (const each of controllers) each.heed(controllers.filter((other) => other !== each));
    parts.onCaches(controllers.map(({ clusters }) => clusters));
    const found = await Promise.all(controllers.map(({ dialect }) => isDefined(dialect, parts, signal)));
    const present = new Set(controllers.filter((_, i) => found[i]));
    const run =
      (controller: Controller): Runnable =>
      async (stop) => {
        if (!present.has(controller) && !(await whenDefined(controller.dialect, parts, stop))) return;
        present.add(controller);
        await controller.run([...present], stop); // whose a name is can be said only when the names of all are known
      };
    await runTogether(controllers.map(run), signal);
  };
