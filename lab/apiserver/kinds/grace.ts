import { at } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { ResourceType } from '../types/resource-type.ts';

/** The grace period of a deletion. Only a running pod has one. */
export function graceSeconds({ collection }: ResourceType, object: KubeObject, asked: number | undefined): number {
  if (collection !== '/pods') return 0;
  const phase = at(object, 'status', 'phase');
  const isRunning = Boolean(at(object, 'spec', 'nodeName')) && phase !== 'Succeeded' && phase !== 'Failed';
  if (!isRunning) return 0;
  return Math.max(0, asked ?? Number(at(object, 'spec', 'terminationGracePeriodSeconds') ?? 30));
}
