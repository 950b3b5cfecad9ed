import type { KubeObject } from '../object.ts';
import type { Store } from '../store/store.ts';
import { hadRoom } from './later.ts';

const collection = '/events';
const lifeMillis = 60 * 60_000;
const everyMillis = 60_000;

/** Forgets Events an hour after they were last written, as the real server does, until told to stop. */
export function expireEvents(store: Store): () => void {
  const removeOld = (): void => {
    for (const event of store.list(collection)) if (isOver(event)) store.remove(placeOf(event));
  };
  const sweep = (): void => void hadRoom(removeOld); // what is left on a full disk goes the next time
  sweep();
  const timer = setInterval(sweep, everyMillis);
  timer.unref();
  return () => clearInterval(timer);
}

const placeOf = ({ metadata: { namespace = '', name } }: KubeObject) => ({ collection, namespace, name });

const isOver = ({ metadata: { creationTimestamp, managedFields = [] } }: KubeObject): boolean => {
  const written = [creationTimestamp, ...managedFields.map(({ time }) => time)];
  return Date.now() - Math.max(...written.map((time) => Date.parse(time))) > lifeMillis;
};
