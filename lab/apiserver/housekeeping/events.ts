import type { KubeObject } from '../object.ts';
import type { Store } from '../store/store.ts';
import { hadDiskSpace } from './deferred.ts';

const collection = '/events';
const lifeMillis = 60 * 60_000;
const everyMillis = 60_000;

/** Removes Events an hour after their last update, as the real server does; returns a function that stops it. */
export function expireEvents(store: Store): () => void {
  const removeOld = (): void => {
    for (const event of store.list(collection)) if (isExpired(event)) store.remove(placeOf(event));
  };
  const sweep = (): void => void hadDiskSpace(removeOld); // on a full disk the next sweep tries again
  sweep();
  const timer = setInterval(sweep, everyMillis);
  timer.unref();
  return () => clearInterval(timer);
}

const placeOf = ({ metadata: { namespace = '', name } }: KubeObject) => ({ collection, namespace, name });

const isExpired = ({ metadata: { creationTimestamp, managedFields = [] } }: KubeObject): boolean => {
  const written = [creationTimestamp, ...managedFields.map(({ time }) => time)];
  return Date.now() - Math.max(...written.map((time) => Date.parse(time))) > lifeMillis;
};
