import { keptMetadata } from '../../core/desired/kept-claim.ts';
import { memberOfClaim } from '../../core/model/claim-names.ts';
import type { Body } from '../../core/model/restore.ts';
import { persistentVolumeClaims } from '../../kube/resource.ts';
import { unless } from '../../std/failure.ts';
import { labelsOf } from './bodies.ts';
import type { RestoreDeed } from './perform.ts';

/**
 * A volume that is the restore's is deleted with the restore, unless its owner is changed before. It keeps the labels of the
 * cluster, so that new members get other names meanwhile. It loses the label of its member, so that the cluster does not use it.
 */
export async function setAside(claims: readonly Body[], { read, target, tools, writer }: RestoreDeed): Promise<void> {
  const { memberLabel } = target.read.blueprint.naming;
  for (const { name, uid } of claims) {
    const metadata = { uid, labels: { [memberLabel]: null, ...labelsOf(tools) }, ownerReferences: [read.owner] };
    const at = { namespace: read.intent.namespace, name };
    await writer.patch(persistentVolumeClaims, at, { type: 'merge', body: { metadata } });
  }
}

/** The old members were removed from the cluster, and its controller keeps their volumes for as long as its spec says. */
export async function keepOld(claims: readonly Body[], { read, target, tools, writer }: RestoreDeed): Promise<void> {
  const { blueprint } = target.read;
  const gone = Object.fromEntries(Object.keys(labelsOf(tools)).map((label) => [label, null]));
  for (const { name, uid } of claims) {
    const kept = keptMetadata(memberOfClaim(name), blueprint, tools.now());
    const labels = { ...gone, ...blueprint.naming.clusterLabels, ...kept.labels };
    const at = { namespace: read.intent.namespace, name };
    const body = { metadata: { uid, ...kept, labels } };
    await unless('not-found', writer.patch(persistentVolumeClaims, at, { type: 'merge', body }), undefined);
  }
}
