import { keptMetadata } from '../../core/desired/kept-claim.ts';
import { memberOfClaim } from '../../core/model/claim-names.ts';
import type { Body } from '../../core/model/restore.ts';
import { persistentVolumeClaims } from '../../kube/resource.ts';
import { unless } from '../../std/failure.ts';
import { labelsOf } from './bodies.ts';
import type { RestoreDeed } from './perform.ts';

/**
 * A volume that is the restore's is deleted with the restore, unless its owner is changed before; the cluster does not see it any more. Where
 * members are found by name, it stays marked as the cluster's, whose new members have other names for as long.
 */
export async function setAside(claims: readonly Body[], { read, target, tools, writer }: RestoreDeed): Promise<void> {
  const { naming, findsDisks } = target.read.blueprint;
  const clusterLabels = findsDisks === 'by-name' ? {} : naming.clusterLabels;
  const gone = Object.fromEntries(
    Object.keys({ ...clusterLabels, [naming.memberLabel]: '' }).map((key) => [key, null]),
  );
  for (const { name, uid } of claims) {
    const metadata = { uid, labels: { ...gone, ...labelsOf(tools) }, ownerReferences: [read.owner] };
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
