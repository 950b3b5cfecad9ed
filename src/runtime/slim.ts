import type { KubeObject, Stored } from '../kube/object.ts';
import { type Oversize, oversizedField } from '../std/oversized.ts';

/** An object of ours has some KiB, and at most 64 KiB of environment and annotations. */
const mostKibibytes = 256;
/** What is left of a larger one. */
const keptBytes = 96 * 1024;
const kibibyte = 1024;
/** A value costs memory even if it is empty. */
const bytesOfValue = 16;

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * An object without what is never read here: who set which field, and what kubectl remembers. Of an object that is too large,
 * its light parts are left; in place of a custom resource's spec there is a note, by which its reader refuses it.
 */
export function slim<T extends KubeObject>(object: Stored<T>): Stored<T> {
  const { managedFields: _, ...metadata } = object.metadata;
  const slimmed = { ...object, metadata: withoutLastApplied(object.kind, metadata) } as Stored<T>;
  return weightOf(slimmed) <= mostKibibytes * kibibyte ? slimmed : lightParts(slimmed);
}

/** Pods are made by the operator with the annotations that a spec asks for, whatever these are. */
function withoutLastApplied(kind: string, metadata: KubeObject['metadata']): KubeObject['metadata'] {
  if (kind === 'Pod' || metadata.annotations?.[lastApplied] === undefined) return metadata;
  const { [lastApplied]: _, ...annotations } = metadata.annotations;
  return { ...metadata, annotations };
}

function lightParts<T extends KubeObject>(object: Stored<T>): Stored<T> {
  const isCustom = object.apiVersion.includes('/');
  const note = { ...heaviestIn(object), kibibytes: Math.round(weightOf(object) / kibibyte), mostKibibytes };
  const shown = isCustom ? { ...object, spec: { [oversizedField]: note satisfies Oversize } } : object;
  return pruned(shown, keptBytes) as Stored<T>;
}

/** Nothing that is read here lies deeper; what does counts as too large. */
const deepestRead = 64;

/** About how many bytes a value takes. */
function weightOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return bytesOfValue + value.length;
  if (typeof value !== 'object' || value === null) return bytesOfValue;
  if (depth > deepestRead) return mostKibibytes * kibibyte + 1;
  let total = bytesOfValue;
  if (Array.isArray(value)) for (const item of value) total += weightOf(item, depth + 1);
  else for (const [key, inner] of Object.entries(value)) total += key.length + weightOf(inner, depth + 1);
  return total;
}

const deepestPruned = 16;

type Entry = readonly [key: string, inner: unknown, weight: number];

const entriesOf = (value: object): readonly Entry[] =>
  Object.entries(value).map(([key, inner]) => [key, inner, key.length + weightOf(inner)]);

/** The value within a budget: text that is too long is dropped, and so is what lies too deep. */
function pruned(value: unknown, budget: number, depth = 0): unknown {
  if (weightOf(value) <= budget) return value;
  if (!isTree(value) || depth > deepestPruned) return undefined;
  const kept = lightEntries(value, budget - bytesOfValue, depth + 1);
  const inOrder = Object.keys(value).filter((key) => kept.get(key) !== undefined);
  return Array.isArray(value)
    ? inOrder.map((key) => kept.get(key))
    : Object.fromEntries(inOrder.map((key) => [key, kept.get(key)]));
}

/** Light entries are left as they are; heavy ones share what remains. */
function lightEntries(value: object, budget: number, depth: number): ReadonlyMap<string, unknown> {
  const entries = entriesOf(value).toSorted((a, b) => a[2] - b[2]);
  const kept = new Map<string, unknown>();
  let left = budget;
  for (const [index, [key, inner, weight]] of entries.entries()) {
    const share = left / (entries.length - index);
    kept.set(key, weight <= share ? inner : pruned(inner, share - key.length, depth));
    left -= Math.min(weight, share);
  }
  return kept;
}

const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null;

const longestPath = 6;

/** The path of the part that has most of the weight. */
function heaviestIn(object: object): { readonly field: string } {
  const path: string[] = [];
  for (let value: unknown = object; isBranch(value) && path.length < longestPath; ) {
    const total = weightOf(value);
    const heaviest = entriesOf(value).reduce<Entry | undefined>((a, b) => (a && a[2] >= b[2] ? a : b), undefined);
    if (heaviest === undefined || heaviest[2] < total / 2) break;
    path.push(heaviest[0].slice(0, 63));
    value = heaviest[1];
  }
  return { field: path.join('.') || '(root)' };
}

const isBranch = (value: unknown): value is object => isTree(value) && !Array.isArray(value);
