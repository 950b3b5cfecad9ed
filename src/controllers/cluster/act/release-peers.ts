import { releaseAfterDeletion } from '../../../core/cluster/plan/upkeep/peers.ts';
import { parseKey } from '../../../kube/object.ts';
import { type ControllerContext, clusterIndex } from '../../shared/context.ts';
import { confirmLeads } from './step-context.ts';
import { performUpkeep } from './upkeep/perform-upkeep.ts';

/** Removes the original operator's finalizer from terminating EtcdPeers of a deleted cluster. */
export async function releasePeers(key: string, controller: ControllerContext): Promise<void> {
  const { peers } = controller;
  if (peers === undefined) return;
  const { namespace = '', name } = parseKey(key);
  const cluster = { namespace, name };
  const { kind } = peers.resource;
  for (const step of releaseAfterDeletion(peers.store.by(clusterIndex, namespace, name), { ...peers, kind })) {
    confirmLeads(controller);
    const signal = AbortSignal.timeout(30_000);
    await performUpkeep(step, { cluster, controller, writer: controller.writer(key), signal });
    controller.log('info', 'step taken', { cluster: key, step: step.kind, detail: step.why });
  }
}
