import type { KubeObject } from '../kube/object.ts';
import { type Runnable, runTogether } from './manager.ts';
import { Reflector, type ReflectorOptions } from './reflector.ts';
import { Store } from './store.ts';

/** One store with the objects of several namespaces, for a service account without cluster-wide list and watch. */
export function reflectorOfNamespaces<T extends KubeObject>(
  namespaces: readonly [string, ...(readonly string[])],
  options: Omit<ReflectorOptions<T>, 'namespace' | 'store'>,
): Pick<Reflector<T>, 'store' | 'synced' | 'run'> {
  const { indexes = {}, onFailure: onHandlerFailure } = options;
  const store = new Store<T>({ indexes, onHandlerFailure, perNamespace: true });
  const each = namespaces.map((namespace) => new Reflector<T>({ ...options, namespace, store }));
  const running = each.map(
    (reflector): Runnable =>
      (stop) =>
        reflector.run(stop),
  );
  return {
    store,
    synced: Promise.all(each.map(({ synced }) => synced)).then(() => undefined),
    run: (signal) => runTogether(running, signal),
  };
}
