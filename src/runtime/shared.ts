/**
 * A value equal to `next`, made of parts of `model` where both have equal parts. Pods of many clusters differ in a few
 * texts only: a cache that passes each object through this function keeps one copy of the rest. Both values are JSON,
 * and are never changed.
 */
export function shared<T>(next: T, model: unknown): T {
  if (next === model) return model as T; // equal texts are different strings in memory
  if (!isTree(next) || !isTree(model) || Array.isArray(next) !== Array.isArray(model)) return next;
  const ofModel = model as Readonly<Record<string, unknown>>;
  const entries = Object.entries(next).map(([key, value]): Entry => [key, shared(value, ofModel[key])]);
  const isSame = entries.every(([key, value]) => Object.hasOwn(ofModel, key) && value === ofModel[key]);
  if (isSame && entries.length === Object.keys(model).length) return model as T;
  return (Array.isArray(next) ? entries.map(([, value]) => value) : Object.fromEntries(entries)) as T;
}

type Entry = readonly [key: string, value: unknown];

const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null;
