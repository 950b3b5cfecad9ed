import type { KubeObject, Stored } from '../kube/object.ts';
import { type Oversize, oversizedField } from '../std/oversized.ts';

/**
 * The largest object that is kept whole. Our own objects have a few KiB, plus at most 64 KiB of environment and
 * annotations.
 */
const mostKibibytes = 256;
const mostBytes = mostKibibytes * 1024;
/** The size to which a larger object is reduced. */
const keptBytes = 96 * 1024;
/** The most entries kept of a list or a map. */
const mostEntries = 512;
/** The memory that an empty value takes. */
const bytesOfValue = 16;

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Drops what the operator never reads: managedFields and the last-applied annotation. Of an oversized object only the
 * small parts are kept. The spec of an oversized custom resource is replaced by a marker, so that the resource is
 * rejected.
 */
export function slim<T extends KubeObject>(object: Stored<T>): Stored<T> {
  const { managedFields: _, ...metadata } = object.metadata;
  const slimmed = { ...object, metadata: withoutLastApplied(object.kind, metadata) } as Stored<T>;
  return isWithin(slimmed, mostBytes) ? slimmed : lightParts(slimmed);
}

/** Pods keep all annotations: a spec may ask for any annotation, and the operator compares them. */
function withoutLastApplied(kind: string, metadata: KubeObject['metadata']): KubeObject['metadata'] {
  if (kind === 'Pod' || metadata.annotations?.[lastApplied] === undefined) return metadata;
  const { [lastApplied]: _, ...annotations } = metadata.annotations;
  return { ...metadata, annotations };
}

function lightParts<T extends KubeObject>(object: Stored<T>): Stored<T> {
  const isCustom = object.apiVersion.includes('/');
  const note: Oversize = { field: heavyPart(object), mostKibibytes };
  const shown = isCustom ? { ...object, spec: { [oversizedField]: note } } : object;
  return pruned(shown, keptBytes) as Stored<T>;
}

/** The operator reads nothing below this depth. Deeper objects count as oversized. */
const deepest = 64;

/** The approximate size of a value in bytes. Counting stops above `enough`. */
function weightOf(value: unknown, enough: number, depth = 0): number {
  if (typeof value === 'string') return bytesOfValue + value.length;
  if (!isTree(value)) return bytesOfValue;
  if (depth > deepest) return enough + 1;
  let total = bytesOfValue;
  for (const [key, inner] of entriesIn(value)) {
    total += key.length + weightOf(inner, enough - total, depth + 1);
    if (total > enough) break;
  }
  return total;
}

/** Lazy, so that a list of a million items is not copied to read the first ones. */
function* entriesIn(value: object): Generator<Entry> {
  if (Array.isArray(value)) for (let index = 0; index < value.length; index++) yield [String(index), value[index]];
  else for (const key in value) yield [key, Reflect.get(value, key)];
}

const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null;

const isWithin = (value: unknown, bytes: number): boolean => weightOf(value, bytes) <= bytes;

/** Reduces a value to a budget. Long texts and deep levels are dropped. */
function pruned(value: unknown, budget: number, depth = 0): unknown {
  if (isWithin(value, budget)) return value;
  if (!isTree(value) || depth > deepestPruned) return undefined;
  const kept = lightEntries(value, budget - bytesOfValue, depth + 1);
  return Array.isArray(value) ? kept.map(([, inner]) => inner) : Object.fromEntries(kept);
}

const deepestPruned = 16;

type Entry = readonly [key: string, inner: unknown];

/** Small entries are kept as they are; large entries share the rest of the budget. */
function lightEntries(value: object, budget: number, depth: number): readonly Entry[] {
  const entries = firstEntries(value);
  const weighed = entries.map(([key, inner]) => [key, key.length + weightOf(inner, budget)] as const);
  const shares = new Map<string, number>();
  let left = budget;
  for (const [index, [key, weight]] of weighed.toSorted((a, b) => a[1] - b[1]).entries()) {
    const share = Math.min(weight, left / (entries.length - index));
    shares.set(key, share);
    left -= share;
  }
  const kept = entries.map(([key, inner]): Entry => [key, pruned(inner, (shares.get(key) ?? 0) - key.length, depth)]);
  return kept.filter(([, inner]) => inner !== undefined);
}

function firstEntries(value: object): readonly Entry[] {
  const entries: Entry[] = [];
  for (const entry of entriesIn(value)) if (entries.push(entry) === mostEntries) break;
  return entries;
}

const longestPath = 6;

/** The path of the largest part, for the error message. */
function heavyPart(object: object): string {
  const path: string[] = [];
  for (let value: unknown = object; isTree(value) && !Array.isArray(value) && path.length < longestPath; ) {
    const heavy = firstEntries(value).find(([, inner]) => !isWithin(inner, mostBytes / 2));
    if (heavy === undefined) break;
    path.push(heavy[0].slice(0, 63));
    value = heavy[1];
  }
  return path.join('.') || '(root)';
}
