import type { KubeObject, Stored } from '../kube/object.ts';
import { type Oversize, oversizedField } from '../std/oversized.ts';

/** An object of ours has some KiB, and at most 64 KiB of environment and annotations. */
const mostKibibytes = 256;
const mostBytes = mostKibibytes * 1024;
/** What is left of a larger one. */
const keptBytes = 96 * 1024;
/** Of a list or a map with more entries, the others are dropped. */
const mostEntries = 512;
/** A value costs memory even if it is empty. */
const bytesOfValue = 16;

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * An object without what is never read here: managedFields, and what kubectl remembers. Of an object that is too large,
 * its light parts are left; in place of a custom resource's spec there is a note, by which its reader refuses it.
 */
export function slim<T extends KubeObject>(object: Stored<T>): Stored<T> {
  const { managedFields: _, ...metadata } = object.metadata;
  const slimmed = { ...object, metadata: withoutLastApplied(object.kind, metadata) } as Stored<T>;
  return isWithin(slimmed, mostBytes) ? slimmed : lightParts(slimmed);
}

/** Pods are made by the operator with the annotations that a spec asks for, whatever these are. */
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

/** Nothing that is read here lies deeper; what does counts as too large. */
const deepest = 64;

/** About how many bytes a value takes; counted no further than to the first that is more than `enough`. */
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

/** One after the other: nothing is made of a list of a million items of which only the first are looked at. */
function* entriesIn(value: object): Generator<Entry> {
  if (Array.isArray(value)) for (let index = 0; index < value.length; index++) yield [String(index), value[index]];
  else for (const key in value) yield [key, Reflect.get(value, key)];
}

const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null;

const isWithin = (value: unknown, bytes: number): boolean => weightOf(value, bytes) <= bytes;

/** The value within a budget: text that is too long is dropped, and so is what lies too deep. */
function pruned(value: unknown, budget: number, depth = 0): unknown {
  if (isWithin(value, budget)) return value;
  if (!isTree(value) || depth > deepestPruned) return undefined;
  const kept = lightEntries(value, budget - bytesOfValue, depth + 1);
  return Array.isArray(value) ? kept.map(([, inner]) => inner) : Object.fromEntries(kept);
}

const deepestPruned = 16;

type Entry = readonly [key: string, inner: unknown];

/** Light entries are left as they are; heavy ones share what remains. */
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

/** The path of the part that has the bulk. */
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
