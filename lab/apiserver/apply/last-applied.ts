import { type Fields, isFields, same } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { leavesOf } from './paths.ts';

const annotation = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * The fields that kubectl applied on the client side and that have not changed since. They do not conflict with a
 * server-side apply by kubectl, although another manager name owns them.
 */
export function lastAppliedFields(live: KubeObject, manager: string, schema: Schema): ReadonlySet<string> {
  const text = live.metadata.annotations?.[annotation];
  if (manager !== 'kubectl' || text === undefined) return new Set();
  const [then, now] = [leavesOf(read(text), schema), leavesOf(live, schema)];
  return new Set([...then.keys()].filter((path) => now.has(path) && same(then.get(path), now.get(path))));
}

function read(text: string): Fields {
  try {
    const content: unknown = JSON.parse(text);
    return isFields(content) ? content : {};
  } catch {
    return {}; // an annotation may contain anything
  }
}
