import type { Passed } from '../../core/model/template.ts';
import { partsOf } from '../quantity.ts';

/**
 * Go's runtime reads how many processors the machine has, not how many its container may use. So a limit is told to it, in
 * whole cores; less than one is one.
 */
export function processorsOf(limit: string | number | undefined): readonly Passed[] {
  const cores = limit === undefined ? undefined : partsOf(limit) / partsOf(1);
  if (limit === undefined || cores === undefined || partsOf(limit) === 0n) return [];
  return [{ name: 'GOMAXPROCS', value: String(cores < 1n ? 1n : cores) }];
}
