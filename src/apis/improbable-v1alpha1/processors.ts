import type { ManifestPart } from '../../core/cluster/model/template.ts';
import { nanosOf } from '../../std/quantity.ts';

/**
 * Sets GOMAXPROCS to the CPU limit in whole cores, at least 1. Go's runtime would use the cores of the node instead.
 */
export function processorsOf(limit: string | number | undefined): readonly ManifestPart[] {
  const cores = limit === undefined ? undefined : nanosOf(limit) / nanosOf(1);
  if (limit === undefined || cores === undefined || nanosOf(limit) === 0n) return [];
  return [{ name: 'GOMAXPROCS', value: String(cores < 1n ? 1n : cores) }];
}
