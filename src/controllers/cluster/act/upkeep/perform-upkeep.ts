import type { UpkeepStep } from '../../../../core/cluster/plan/upkeep/step.ts';
import type { UpkeepContext } from './context.ts';
import { labelServing, restoreLabels } from './labels.ts';
import { correctObject, createObject, deleteBudget } from './objects.ts';
import { correctPeer, createPlannedPeer, deletePlannedPeer, releasePeer } from './peers.ts';
import { growVolume, ownVolume } from './pvcs.ts';

type Performers = {
  readonly [K in UpkeepStep['kind']]: (
    step: Extract<UpkeepStep, { kind: K }>,
    context: UpkeepContext,
  ) => Promise<unknown>;
};

/** The function of each kind of upkeep. A new kind does not compile without a function here. */
const performers: Performers = {
  'create-object': createObject,
  'correct-object': correctObject,
  'delete-budget': deleteBudget,
  'create-peer': createPlannedPeer,
  'correct-peer': correctPeer,
  'release-peer': releasePeer,
  'delete-peer': deletePlannedPeer,
  'own-volume': ownVolume,
  'grow-volume': growVolume,
  'restore-labels': restoreLabels,
  'label-serving': labelServing,
  'report-problem': ({ failure }) => Promise.reject(failure),
};

export async function performUpkeep(step: UpkeepStep, context: UpkeepContext): Promise<void> {
  await (performers[step.kind] as (step: UpkeepStep, context: UpkeepContext) => Promise<unknown>)(step, context);
}
